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

package dev.dstl.changelog.materialization;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class MaterializationThreadsTest {

    private final MaterializationThreads threads = MaterializationThreads.shared(4);

    @Test
    void deletionsThatHang_holdUpNoUpload() throws Exception {
        CountDownLatch store = new CountDownLatch(1);
        CountDownLatch hanging = new CountDownLatch(1);
        try {
            for (int i = 0; i < 100; i++) {
                threads.deletions()
                        .execute(
                                () -> {
                                    hanging.countDown();
                                    await(store);
                                });
            }
            assertThat(hanging.await(30, TimeUnit.SECONDS)).isTrue();

            CompletableFuture<Void> upload =
                    CompletableFuture.runAsync(() -> {}, threads.uploads());

            assertThat(upload).succeedsWithin(30, TimeUnit.SECONDS);
        } finally {
            store.countDown();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
