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

package dev.dstl.spillable.incremental;

import org.apache.flink.runtime.state.StreamStateHandle;

/** A file with sealed partitions that several checkpoints may contain. Equal to itself only. */
final class SharedFile {

    /** Distinguishes the files of one checkpoint. */
    final String name;

    final StreamStateHandle handle;

    SharedFile(String name, StreamStateHandle handle) {
        this.name = name;
        this.handle = handle;
    }

    /** Length of the file. */
    long bytes() {
        return handle.getStateSize();
    }

    @Override
    public String toString() {
        return handle.toString();
    }
}
