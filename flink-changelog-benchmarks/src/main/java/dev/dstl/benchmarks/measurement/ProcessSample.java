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

/** A sample of the TaskManager process. Written as JSON. */
public final class ProcessSample {

    /** Milliseconds since the start of the window. */
    public long atMillis;

    /** Resident memory in bytes. */
    public long residentBytes;

    /**
     * Heap usage last reported by the JVM in bytes, at most a few seconds old; 0 before the first
     * report.
     */
    public long heapBytes;

    /** Open file descriptors, including sockets. */
    public long openFiles;
}
