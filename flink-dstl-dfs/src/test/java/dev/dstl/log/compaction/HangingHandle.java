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

package dev.dstl.log.compaction;

import dev.dstl.log.testing.DeafWait;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;

/** A segment whose store does not answer and whose client ignores interrupts. */
final class HangingHandle extends ByteStreamStateHandle {

    private static final long serialVersionUID = 1L;

    private final transient Semaphore opened;
    private final transient CountDownLatch store;

    /**
     * @param opened is released by each request
     * @param store ends all requests
     */
    HangingHandle(Semaphore opened, CountDownLatch store) {
        super("hanging.seg", new byte[100]);
        this.opened = opened;
        this.store = store;
    }

    @Override
    public Optional<byte[]> asBytesIfInMemory() {
        return Optional.empty();
    }

    @Override
    public FSDataInputStream openInputStream() throws IOException {
        opened.release();
        DeafWait.on(store);
        throw new IOException("Connection reset");
    }
}
