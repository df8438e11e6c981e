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

    /** Checkpoint id. */
    public long id;

    /** Trigger time in milliseconds since the start of the window; may be negative. */
    public long atMillis;

    /** Time from the trigger to the last acknowledgement. */
    public long durationMillis;

    /**
     * Time from the trigger until the barrier had arrived on all inputs of the subtask that
     * acknowledged last.
     */
    public long barrierMillis;

    /** Duration of that subtask's synchronous part. */
    public long synchronousMillis;

    /**
     * Duration of that subtask's asynchronous part. The rest of the total is the acknowledgement.
     */
    public long asynchronousMillis;

    /** Bytes that the checkpoint added to the store, as reported by Flink. */
    public long checkpointedBytes;

    /** Total bytes of the checkpoint, as reported by Flink. */
    public long fullBytes;
}
