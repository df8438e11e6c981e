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

package dev.dstl.log.segment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.log.testing.FaultyStore;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FSDataInputStreamWrapper;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileSystem.WriteMode;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files of a base survive what segments survive. */
@Timeout(60)
class RetriedStreamTest {

    private static final int SIZE = 200_000;
    private static final long HOUR_MILLIS = TimeUnit.HOURS.toMillis(1);

    private final FaultyStore store = FaultyStore.create();
    private final Path path = new Path(store.basePath(), "shared/1");
    private final FileStateHandle file = new FileStateHandle(path, SIZE);
    private final byte[] content = new byte[SIZE];
    private final AtomicInteger retries = new AtomicInteger();
    private final AtomicReference<Exception> failed = new AtomicReference<>();

    @BeforeEach
    void write() throws IOException {
        new Random(7).nextBytes(content);
        write(content);
    }

    private void write(byte[] bytes) throws IOException {
        try (FSDataOutputStream out = path.getFileSystem().create(path, WriteMode.OVERWRITE)) {
            out.write(bytes);
        }
    }

    @AfterEach
    void release() {
        store.beforeReads(read -> {});
        store.close();
    }

    @Test
    void bytesAndPositions_areThoseOfTheFile() throws IOException {
        Random random = new Random(11);
        try (FSDataInputStream stream = open(file, HOUR_MILLIS)) {
            int position = 0;
            for (int step = 0; step < 2_000; step++) {
                if (random.nextInt(10) == 0) {
                    position = random.nextInt(SIZE);
                    stream.seek(position);
                }
                switch (random.nextInt(3)) {
                    case 0:
                        assertThat(stream.read())
                                .isEqualTo(position < SIZE ? content[position++] & 0xff : -1);
                        break;
                    case 1:
                        position += (int) stream.skip(random.nextInt(100));
                        break;
                    default:
                        byte[] target = new byte[1 + random.nextInt(20_000)];
                        int count = stream.read(target, 0, target.length);
                        if (position == SIZE) {
                            assertThat(count).isEqualTo(-1);
                        } else {
                            assertThat(Arrays.copyOf(target, count))
                                    .isEqualTo(
                                            Arrays.copyOfRange(
                                                    content, position, position + count));
                            position += count;
                        }
                }
                assertThat(stream.getPos()).isEqualTo(position);
            }
        }
        assertThat(retries).hasValue(0);
    }

    /** With a patience of an hour, only the second request can be what answers. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void requestThatHangs_isReplacedByASecondOne(int request) throws IOException {
        hang(request, 1);
        assertThat(readAll(open(file, HOUR_MILLIS, new AnswerTimes()))).isEqualTo(content);
        assertThat(retries.get()).isPositive();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void requestThatFails_isRetried(int request) throws IOException {
        AtomicInteger requests = new AtomicInteger();
        store.beforeReads(
                read -> {
                    if (requests.getAndIncrement() == request) {
                        throw new IOException("503 SlowDown");
                    }
                });
        assertThat(readAll(file, HOUR_MILLIS)).isEqualTo(content);
        assertThat(retries).hasValue(1);
    }

    @Test
    void storeThatNeverAnswers_failsTheRead_andTheFileIsNamed() {
        hang(0, Integer.MAX_VALUE);
        assertThatThrownBy(() -> readAll(file, 20))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("File " + path + " cannot be read")
                .hasMessageContaining("no byte at offset 0");
        assertThat(retries).hasValue(3);
    }

    @Test
    void missingFile_failsAtOnce_andIsNamed() {
        FileStateHandle missing = new FileStateHandle(new Path(store.basePath(), "2"), SIZE);
        assertThatThrownBy(() -> readAll(missing, HOUR_MILLIS))
                .isInstanceOf(FileNotFoundException.class)
                .hasMessageContaining("File " + missing.getFilePath() + " is gone")
                .isSameAs(failed.get());
        assertThat(retries).hasValue(0);
    }

    @Test
    void connectionThatIsLost_isNotTakenForTheEndOfTheFile() throws IOException {
        AtomicInteger opened = new AtomicInteger();
        FileStateHandle losesOneConnection =
                new FileStateHandle(path, SIZE) {
                    private static final long serialVersionUID = 1L;

                    @Override
                    public FSDataInputStream openInputStream() throws IOException {
                        FSDataInputStream stream = super.openInputStream();
                        return opened.getAndIncrement() == 0 ? new Lost(stream) : stream;
                    }
                };
        assertThat(readAll(losesOneConnection, HOUR_MILLIS)).isEqualTo(content);
        assertThat(opened).hasValue(2);
    }

    /** Ends after 100,000 bytes. */
    private static final class Lost extends FSDataInputStreamWrapper {

        private Lost(FSDataInputStream stream) {
            super(stream);
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            int left = (int) (100_000 - getPos());
            if (left <= 0) {
                throw new EOFException("Premature end of body");
            }
            return super.read(target, offset, Math.min(left, length));
        }
    }

    @Test
    void fileThatIsTooShort_failsTheRead_andIsNamedWithItsSize() throws IOException {
        write(Arrays.copyOf(content, 1_000));
        assertThatThrownBy(() -> readAll(file, HOUR_MILLIS))
                .hasMessageContaining("File " + path + " cannot be read")
                .hasMessageContaining("the file ends after 1000 of 200000 bytes");
    }

    @Test
    void fileOfUnknownSize_isReadToItsEnd() throws IOException {
        assertThat(readAll(new FileStateHandle(path, -1), HOUR_MILLIS)).isEqualTo(content);
    }

    @Test
    void closingFromAnotherThread_endsAReadThatHangs_andLeavesItsThreadUninterrupted()
            throws Exception {
        hang(1, Integer.MAX_VALUE);
        FSDataInputStream stream = open(file, HOUR_MILLIS);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        AtomicReference<Boolean> interrupted = new AtomicReference<>();
        Thread reader =
                new Thread(
                        () -> {
                            try {
                                stream.read(new byte[100], 0, 100);
                            } catch (IOException e) {
                                failure.set(e);
                            }
                            interrupted.set(Thread.currentThread().isInterrupted());
                        });
        reader.start();
        while (store.hangingReads() == 0) {
            Thread.sleep(1);
        }
        stream.close();
        reader.join();

        assertThat(failure.get()).isInstanceOf(IOException.class);
        assertThat(failed).as("failures of reads, to which closing does not belong").hasValue(null);
        assertThat(interrupted).hasValue(false);
        assertThatThrownBy(() -> stream.read(new byte[1], 0, 1)).isInstanceOf(IOException.class);
    }

    @Test
    void closing_endsTheThreadOfTheRequests() throws Exception {
        AtomicReference<Thread> requests = new AtomicReference<>();
        store.beforeReads(read -> requests.set(Thread.currentThread()));
        FSDataInputStream stream = open(file, HOUR_MILLIS);
        stream.close();
        assertThat(requests).as("nothing is requested before the first read").hasValue(null);

        FSDataInputStream used = open(file, HOUR_MILLIS);
        assertThat(used.read()).isEqualTo(content[0] & 0xff);
        used.close();
        used.close();
        requests.get().join();
        used.seek(SIZE - 1);
        assertThatThrownBy(used::read).hasMessageContaining(path + " is closed");
    }

    @Test
    void answersOfOneFile_showWhichRequestsOfAnotherAreSlow() throws Exception {
        AnswerTimes answers = new AnswerTimes();
        store.beforeReads(read -> sleep(200));
        readAll(new RetriedStream(file, ReadSession.ofRestore(answers, () -> {}), failed));
        assertThat(ReadSession.ofRestore(answers, () -> {}).earlyRetryMillis())
                .isGreaterThanOrEqualTo(1_600);
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private void hang(int first, int count) {
        AtomicInteger requests = new AtomicInteger();
        store.beforeReads(
                read -> {
                    int request = requests.getAndIncrement();
                    if (request >= first && request < (long) first + count) {
                        store.hangRead();
                    }
                });
    }

    /** Opens a file of which no request is slow, so that only failures are retried. */
    private FSDataInputStream open(FileStateHandle opened, long patienceMillis) {
        return open(opened, patienceMillis, new AnswerTimes(HOUR_MILLIS, HOUR_MILLIS));
    }

    private FSDataInputStream open(
            FileStateHandle opened, long patienceMillis, AnswerTimes answers) {
        return new RetriedStream(
                opened,
                ReadSession.ofRestore(patienceMillis, answers, retries::incrementAndGet),
                failed);
    }

    private byte[] readAll(FileStateHandle opened, long patienceMillis) throws IOException {
        return readAll(open(opened, patienceMillis));
    }

    private static byte[] readAll(FSDataInputStream stream) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (stream) {
            stream.transferTo(bytes);
        }
        return bytes.toByteArray();
    }
}
