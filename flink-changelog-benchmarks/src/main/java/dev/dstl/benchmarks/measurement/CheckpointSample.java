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

/** A completed checkpoint. Written as JSON. */
public final class CheckpointSample {

    /** As Flink counts them, from 1. */
    public long id;

    /** When it was triggered, milliseconds since the window began; may be below 0. */
    public long atMillis;

    /** From the trigger to the last acknowledgement. */
    public long durationMillis;

    /**
     * From the trigger until the barrier had come through all inputs of the subtask that
     * acknowledged last.
     */
    public long barrierMillis;

    /** What that subtask's task thread stood still for. */
    public long synchronousMillis;

    /** What that subtask did beside its records. The acknowledgement has the rest. */
    public long asynchronousMillis;

    /** What it added to the store, as Flink counts it. */
    public long checkpointedBytes;

    /** All that it refers to, as Flink counts it. */
    public long fullBytes;
}
