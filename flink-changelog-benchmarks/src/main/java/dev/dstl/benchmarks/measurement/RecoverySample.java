/*
 * Copyright the DSTL authors.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

package dev.dstl.benchmarks.measurement;

/**
 * The steps of a recovery after the TaskManager was killed, in milliseconds, each until the last
 * task has completed it. Written as JSON.
 *
 * <pre>
 *   kill --redeploy--> deployed --start--> initializing --restore--> running --first record--> at work
 * </pre>
 */
public final class RecoverySample {

    /** The failure is detected, a new process starts, and tasks are sent to it. */
    public long redeployMillis;

    /** Classes are loaded and tasks are initialized. */
    public long startMillis;

    /** State is read from the store. */
    public long restoreMillis;

    /** Every keyed task receives its first record. */
    public long firstRecordMillis;

    /** Returns the time from the kill to the first record. */
    public long totalMillis() {
        return redeployMillis + startMillis + restoreMillis + firstRecordMillis;
    }
}
