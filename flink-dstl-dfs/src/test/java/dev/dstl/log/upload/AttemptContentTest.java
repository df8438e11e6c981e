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

package dev.dstl.log.upload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.log.api.TestRecord;
import dev.dstl.log.segment.EncodedSegment;
import dev.dstl.log.segment.SegmentCodec;
import dev.dstl.log.segment.TestSegments;
import dev.dstl.log.testing.ManualTimers;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class AttemptContentTest {

    private final ManualTimers timers = new ManualTimers();

    @Test
    void attached_itWritesTheSegment() throws Exception {
        EncodedSegment segment = segment();
        AttemptContent content = new AttemptContent(segment, timers::nanoTime);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        content.opened(out);
        content.writeTo(out);
        assertThat(out.toByteArray()).isEqualTo(TestSegments.bytes(segment));
        assertThat(content.stream()).isSameAs(out);
    }

    @Test
    void itMakesProgress_whenTheFileIsOpenedAndWithEachPieceThatIsTaken() throws Exception {
        AttemptContent content = new AttemptContent(segment(), timers::nanoTime);
        assertThat(content.progressNanos()).isEqualTo(timers.nanoTime());
        timers.advanceMillis(10);
        content.opened(OutputStream.nullOutputStream());
        assertThat(content.progressNanos()).isEqualTo(timers.nanoTime());
        List<Long> progress = new ArrayList<>();
        content.writeTo(
                new OutputStream() {
                    @Override
                    public void write(int b) {
                        throw new IllegalStateException("It is written in pieces");
                    }

                    @Override
                    public void write(byte[] source, int offset, int length) {
                        progress.add(timers.nanoTime() - content.progressNanos());
                        timers.advanceMillis(10);
                    }
                });
        assertThat(progress).hasSize(4).containsOnly(0L);
        assertThat(content.progressNanos()).isEqualTo(timers.nanoTime());
    }

    @Test
    void detached_itWritesNothing() {
        AttemptContent content = new AttemptContent(segment(), timers::nanoTime);
        assertThat(content.isCancelled()).isFalse();
        content.detach();
        assertThat(content.isCancelled()).isTrue();
        assertThat(content.segment()).isNull();
        assertThatThrownBy(() -> content.writeTo(OutputStream.nullOutputStream()))
                .isInstanceOf(InterruptedIOException.class);
        assertThatThrownBy(() -> content.opened(OutputStream.nullOutputStream()))
                .isInstanceOf(InterruptedIOException.class);
    }

    @Test
    void threadThatHangsInAWrite_doesNotKeepTheSegment() throws Exception {
        CountDownLatch hanging = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        AttemptContent content = new AttemptContent(segment(), timers::nanoTime);
        WeakReference<EncodedSegment> segment = new WeakReference<>(content.segment());
        Thread writer =
                new Thread(
                        () -> {
                            try {
                                content.writeTo(new HangingStream(hanging, end));
                            } catch (IOException detached) {
                                // Of no interest to this test.
                            }
                        });
        writer.start();
        hanging.await();
        content.detach();
        while (segment.get() != null) {
            System.gc();
            Thread.sleep(1);
        }
        assertThat(writer.isAlive()).isTrue();
        end.countDown();
        writer.join();
    }

    private static EncodedSegment segment() {
        return TestSegments.encode(
                SegmentCodec.NONE, List.of(TestRecord.opaque(1, "x".repeat(200_000))));
    }

    private static final class HangingStream extends OutputStream {
        private final CountDownLatch hanging;
        private final CountDownLatch end;

        private HangingStream(CountDownLatch hanging, CountDownLatch end) {
            this.hanging = hanging;
            this.end = end;
        }

        @Override
        public void write(int b) {
            hanging.countDown();
            boolean interrupted = true;
            while (interrupted) {
                try {
                    end.await();
                    interrupted = false;
                } catch (InterruptedException uninterruptible) {
                    interrupted = true;
                }
            }
        }

        @Override
        public void write(byte[] source, int offset, int length) {
            write(0);
        }
    }
}
