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
 * The way back after the TaskManager was killed, each step until its last task is through,
 * milliseconds. Written as JSON.
 *
 * <pre>
 *   kill --redeploy--> deployed --start--> initializing --restore--> running --first record--> at work
 * </pre>
 */
public final class RecoverySample {

    /** The loss is noticed, a new process has started, the tasks are sent to it. */
    public long redeployMillis;

    /** Classes are loaded and the tasks are set up. */
    public long startMillis;

    /** State is read from the store. */
    public long restoreMillis;

    /** Until each keyed task has had its first record. */
    public long firstRecordMillis;

    /** From the kill to the first record. */
    public long totalMillis() {
        return redeployMillis + startMillis + restoreMillis + firstRecordMillis;
    }
}
