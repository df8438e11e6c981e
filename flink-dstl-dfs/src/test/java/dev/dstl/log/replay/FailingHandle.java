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

package dev.dstl.log.replay;

import java.io.IOException;
import java.util.Optional;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;

/** A file whose store fails on open, or on read and close. */
final class FailingHandle extends ByteStreamStateHandle {

    private static final long serialVersionUID = 1L;

    private final transient Exception failure;
    private final boolean onOpen;

    FailingHandle(Exception failure, boolean onOpen) {
        super("failing.seg", new byte[100]);
        this.failure = failure;
        this.onOpen = onOpen;
    }

    @Override
    public Optional<byte[]> asBytesIfInMemory() {
        return Optional.empty();
    }

    @Override
    public FSDataInputStream openInputStream() throws IOException {
        if (onOpen) {
            throw thrown();
        }
        return new FSDataInputStream() {
            @Override
            public void seek(long position) {}

            @Override
            public long getPos() {
                return 0;
            }

            @Override
            public int read() throws IOException {
                throw thrown();
            }

            @Override
            public int read(byte[] target, int offset, int length) throws IOException {
                throw thrown();
            }

            @Override
            public void close() throws IOException {
                throw thrown();
            }
        };
    }

    private IOException thrown() throws IOException {
        if (failure instanceof IOException) {
            throw (IOException) failure;
        }
        throw (RuntimeException) failure;
    }
}
