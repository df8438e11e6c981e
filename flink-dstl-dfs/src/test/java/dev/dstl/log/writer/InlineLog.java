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

package dev.dstl.log.writer;

import static dev.dstl.log.testing.LogFixture.handleOf;
import static dev.dstl.log.testing.LogFixture.persistAll;
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.config.DstlOptions;
import dev.dstl.log.testing.LogFixture;
import dev.dstl.log.testing.ManualExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;

/**
 * A changelog whose small batches travel inline; uploads and encoding run when the test says so.
 */
final class InlineLog implements AutoCloseable {

    static final int THRESHOLD = 4 << 10;
    static final long MAX_AGE_MILLIS = 5_000;

    /** A state change that is too large to travel inline. */
    static final String LARGE = "x".repeat(THRESHOLD);

    final ManualExecutor executor = new ManualExecutor();
    final LogFixture log =
            LogFixture.on(
                    executor,
                    new Configuration()
                            .set(DstlOptions.INLINE_THRESHOLD, new MemorySize(THRESHOLD))
                            .set(DstlOptions.MAX_AGE, Duration.ofMillis(MAX_AGE_MILLIS)));
    final DstlLogWriter writer = log.writer();

    /** Takes a checkpoint that waits for nothing but its encoding. */
    ChangelogStateHandleStreamImpl persisted() throws Exception {
        Future<SnapshotResult<ChangelogStateHandleStreamImpl>> persist = persistAll(writer);
        executor.runAll();
        assertThat(persist).isDone();
        return handleOf(persist);
    }

    /** Advances time in small steps, and runs what is due. */
    void passTime(long millis) {
        for (long passed = 0; passed < millis; passed += 50) {
            log.timers().advanceMillis(50);
            executor.runAll();
        }
    }

    /** The distinct segments that travel inline in a handle. */
    static List<ByteStreamStateHandle> parts(ChangelogStateHandleStreamImpl handle) {
        List<ByteStreamStateHandle> parts = new ArrayList<>();
        handle.getHandlesAndOffsets()
                .forEach(
                        position -> {
                            if (position.f0 instanceof ByteStreamStateHandle) {
                                parts.add((ByteStreamStateHandle) position.f0);
                            }
                        });
        return parts.stream().distinct().collect(Collectors.toList());
    }

    /** Whatever has happened, nothing may be left in memory. */
    @Override
    public void close() {
        writer.close();
        executor.runAll();
        assertThat(log.budget().reservedBytes()).as("bytes in flight").isZero();
        log.close();
    }
}
