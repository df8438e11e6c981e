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
import org.apache.flink.core.fs.FSDataInputStreamWrapper;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;

/** A file whose streams fail when they are closed. */
final class UnclosableHandle extends ByteStreamStateHandle {

    private static final long serialVersionUID = 1L;

    UnclosableHandle(String name, byte[] content) {
        super(name, content);
    }

    @Override
    public Optional<byte[]> asBytesIfInMemory() {
        return Optional.empty();
    }

    @Override
    public FSDataInputStream openInputStream() throws IOException {
        return new FSDataInputStreamWrapper(super.openInputStream()) {
            @Override
            public void close() throws IOException {
                super.close();
                throw new IOException("Connection reset while closing");
            }
        };
    }
}
