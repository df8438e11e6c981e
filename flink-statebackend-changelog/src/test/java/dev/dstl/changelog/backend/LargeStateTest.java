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

package dev.dstl.changelog.backend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.changelog.contract.Delegate;
import dev.dstl.changelog.contract.LogStorage;
import dev.dstl.changelog.fixture.FakeJobManager;
import java.nio.file.Path;
import java.util.Random;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One value of 64 MB; two hundred states in one operator. */
class LargeStateTest {

    private static final int MEBIBYTES = 64;
    private static final int STATES = 200;

    private static final ValueStateDescriptor<byte[]> LARGE =
            new ValueStateDescriptor<>(
                    "large", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO);

    @TempDir private Path directory;

    @ParameterizedTest
    @EnumSource(names = {"HASHMAP", "ROCKSDB_INCREMENTAL"})
    void valueOf64Megabytes_isRestoredFromTheLog_andFromABase(Delegate delegate) throws Exception {
        FakeJobManager jobManager;
        byte[] first = noise(1);
        byte[] second = noise(2);
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL)) {
            jobManager = task.jobManager;
            task.state(1, LARGE).update(first);
            task.checkpoint(1);
        }
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            assertThat(task.state(1, LARGE).value()).isEqualTo(first);
            task.state(2, LARGE).update(second);
            assertThat(task.materialize()).isTrue();
            task.checkpoint(2);
        }
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            assertThat(task.state(1, LARGE).value()).isEqualTo(first);
            assertThat(task.state(2, LARGE).value()).isEqualTo(second);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"HASHMAP", "ROCKSDB_FULL"})
    void twoHundredStates_areRestoredFromBaseAndLog(Delegate delegate) throws Exception {
        FakeJobManager jobManager;
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL)) {
            jobManager = task.jobManager;
            for (int state = 0; state < STATES; state++) {
                task.state(state % 7, value(state)).update("before " + state);
                if (state == STATES - 20) {
                    // The rest is registered when there is a base already.
                    assertThat(task.materialize()).isTrue();
                    task.checkpoint(1);
                }
            }
            for (int state = 0; state < STATES; state += 3) {
                task.state(state % 7, value(state)).update("after " + state);
            }
            task.checkpoint(2);
        }
        try (TestTask task = TestTask.start(directory, delegate, LogStorage.DSTL, jobManager)) {
            for (int state = STATES - 1; state >= 0; state--) {
                assertThat(task.state(state % 7, value(state)).value())
                        .isEqualTo((state % 3 == 0 ? "after " : "before ") + state);
            }
        }
    }

    private static byte[] noise(long seed) {
        byte[] bytes = new byte[MEBIBYTES << 20];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private static ValueStateDescriptor<String> value(int state) {
        return new ValueStateDescriptor<>("value " + state, Types.STRING);
    }
}
