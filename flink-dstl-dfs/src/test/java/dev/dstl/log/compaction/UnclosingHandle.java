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

import static dev.dstl.log.api.TestRecord.put;

import dev.dstl.log.segment.EncodedSegment;
import dev.dstl.log.segment.SegmentCodec;
import dev.dstl.log.segment.TestSegments;
import dev.dstl.log.testing.DeafWait;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FSDataInputStreamWrapper;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;

/** A segment with one record whose streams do not close before they may. */
final class UnclosingHandle extends ByteStreamStateHandle {

    private static final long serialVersionUID = 1L;

    /** Where the frame of its record begins. */
    static final long FRAME_OFFSET = segment(0).frameOffset(0);

    private final transient Semaphore closing;
    private final transient Wait answer;

    /**
     * Ignores interrupts.
     *
     * @param name begins with another character than those of all other segments
     * @param closing is released by each stream that is to be closed
     */
    UnclosingHandle(String name, Semaphore closing, CountDownLatch store) {
        this(name, closing, () -> DeafWait.on(store));
    }

    UnclosingHandle(String name, Semaphore closing, Wait answer) {
        super(name, TestSegments.bytes(segment(name.charAt(0))));
        this.closing = closing;
        this.answer = answer;
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
                closing.release();
                try {
                    answer.await();
                } catch (InterruptedException e) {
                    throw new InterruptedIOException("Interrupted while closing");
                }
                super.close();
            }
        };
    }

    private static EncodedSegment segment(long sequence) {
        return TestSegments.encodeFrom(
                sequence, SegmentCodec.NONE, List.of(put(1, 1, "key", "value")));
    }

    /** How a stream waits for the store. */
    @FunctionalInterface
    interface Wait {
        void await() throws InterruptedException;
    }
}
