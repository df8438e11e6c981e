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
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;

/** A segment that counts how often it is opened and closed. */
final class CountingHandle extends ByteStreamStateHandle {

    private static final long serialVersionUID = 1L;

    final transient AtomicInteger closed = new AtomicInteger();
    int opened;

    CountingHandle(byte[] segment) {
        super("counting.seg", segment);
    }

    @Override
    public FSDataInputStream openInputStream() throws IOException {
        opened++;
        FSDataInputStream stream = super.openInputStream();
        return new FSDataInputStream() {
            @Override
            public void seek(long position) throws IOException {
                stream.seek(position);
            }

            @Override
            public long getPos() throws IOException {
                return stream.getPos();
            }

            @Override
            public int read() throws IOException {
                return stream.read();
            }

            @Override
            public int read(byte[] target, int offset, int length) throws IOException {
                return stream.read(target, offset, length);
            }

            @Override
            public void close() {
                closed.incrementAndGet();
            }
        };
    }
}
