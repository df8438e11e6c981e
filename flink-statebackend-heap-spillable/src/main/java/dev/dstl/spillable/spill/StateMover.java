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

package dev.dstl.spillable.spill;

import java.io.IOException;

/** Moves state of one backend while it works. Called on the task thread. */
public interface StateMover extends AutoCloseable {

    /** A key was selected: the record before is done with its state, so entries may move now. */
    void keySelected();

    /**
     * An entry was read from a snapshot and is about to be placed; those placed before may move
     * now. State that needed spilling before a failure would fill the heap faster than garbage
     * collections can tell, so it is asked.
     *
     * @param serializedBytes what the entry took in the snapshot
     * @return whether it may become an object on the heap; otherwise its key group is to be spilled
     * @throws IOException if no spill directory can be made
     */
    boolean restoresToHeap(long serializedBytes) throws IOException;

    /** All entries and timers that a snapshot has of a key group were placed. */
    void keyGroupRestored();

    /**
     * The backend has restored its state and starts. Not called if a restore fails, after which
     * Flink may make another backend for the same operator.
     */
    default void started() {}

    /** Ends it; state stays where it is. */
    @Override
    void close();
}
