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

import java.io.IOException;
import java.nio.file.Path;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;

/** A file with sealed partitions that several checkpoints may contain. Equal to itself only. */
final class SharedFile {

    /** Distinguishes the files of one checkpoint. */
    final String name;

    /** In the checkpoint storage, also if a copy is read. */
    final StreamStateHandle handle;

    final LocalCopies copies = new LocalCopies();

    private final StreamStateHandle source;

    SharedFile(String name, StreamStateHandle handle) {
        this(name, handle, handle);
    }

    private SharedFile(String name, StreamStateHandle handle, StreamStateHandle source) {
        this.name = name;
        this.handle = handle;
        this.source = source;
    }

    /** A file of which a copy on the local disk is read instead. */
    static SharedFile withCopy(String name, StreamStateHandle handle, Path copy) {
        SharedFile file =
                new SharedFile(
                        name,
                        handle,
                        new FileStateHandle(
                                new org.apache.flink.core.fs.Path(copy.toUri()),
                                handle.getStateSize()));
        file.copies.add(copy);
        return file;
    }

    /** Length of the file. */
    long bytes() {
        return handle.getStateSize();
    }

    /** Opens the copy if there was one when the file was restored. */
    FSDataInputStream openInputStream() throws IOException {
        return source.openInputStream();
    }

    @Override
    public String toString() {
        return source.toString();
    }
}
