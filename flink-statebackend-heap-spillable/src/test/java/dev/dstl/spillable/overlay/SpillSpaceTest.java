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

package dev.dstl.spillable.overlay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpillSpaceTest {

    @TempDir Path disk;

    @Test
    void aBackendThatNeverSpills_makesNoDirectory() throws IOException {
        SpillSpace space = PoolOnDisk.space(disk, 1 << 20);

        assertThat(space.pool()).isNull();
        assertThat(disk).isEmptyDirectory();
        space.close();
    }

    @Test
    void thePool_isMadeOnce_andClosedWithTheSpace() throws IOException {
        SpillSpace space = PoolOnDisk.space(disk, 1 << 20);

        PartitionPool pool = space.open();
        assertThat(space.open()).isSameAs(pool);
        assertThat(space.pool()).isSameAs(pool);
        assertThat(disk).isNotEmptyDirectory();

        space.close();
        assertThat(space.pool()).isNull();
        assertThat(disk).isEmptyDirectory();
        space.close();
    }

    @Test
    void aClosedSpace_makesNoOtherPool() throws IOException {
        SpillSpace space = PoolOnDisk.space(disk, 1 << 20);
        space.close();

        assertThatThrownBy(space::open)
                .isInstanceOf(IOException.class)
                .hasMessage("The state backend is closed");

        assertThat(space.pool()).isNull();
        assertThat(disk).isEmptyDirectory();
    }

    @Test
    void closing_doesNotWaitForAPoolThatIsBeingMade_whichLeavesNothing() throws IOException {
        AtomicReference<SpillSpace> opened = new AtomicReference<>();
        opened.set(
                new SpillSpace(
                        () -> {
                            closeOnAnotherThread(opened.get());
                            return new PoolOnDisk(disk, 1 << 20).pool();
                        }));

        assertThatThrownBy(() -> opened.get().open())
                .isInstanceOf(IOException.class)
                .hasMessage("The state backend is closed");

        assertThat(opened.get().pool()).isNull();
        assertThat(disk).isEmptyDirectory();
    }

    @Test
    void filesThatSomebodyHolds_outliveTheSpace_butTheBudgetDoesNot() throws IOException {
        PoolOnDisk opened = new PoolOnDisk(disk, 1 << 20);
        SpillSpace space = new SpillSpace(opened::pool);
        Closeable held = space.holdFiles();

        space.close();
        assertThat(opened.isReleased()).as("the budget").isTrue();
        assertThat(disk).isNotEmptyDirectory();
        held.close();

        assertThat(disk).isEmptyDirectory();
        assertThatThrownBy(space::holdFiles).isInstanceOf(IOException.class);
    }

    private static void closeOnAnotherThread(SpillSpace space) throws IOException {
        try {
            CompletableFuture.runAsync(
                            () -> {
                                try {
                                    space.close();
                                } catch (IOException e) {
                                    throw new UncheckedIOException(e);
                                }
                            })
                    .get(30, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new IOException("closing waits for the opener", e);
        }
    }

    @Test
    void anOpenerThatFails_isAskedAgainNextTime() throws IOException {
        AtomicInteger attempts = new AtomicInteger();
        SpillSpace space =
                new SpillSpace(
                        () -> {
                            if (attempts.incrementAndGet() == 1) {
                                throw new IOException("no directory");
                            }
                            return new PoolOnDisk(disk, 1 << 20).pool();
                        });

        assertThatThrownBy(space::open).isInstanceOf(IOException.class).hasMessage("no directory");
        assertThat(space.pool()).isNull();
        assertThat(space.open()).isNotNull();
        space.close();
    }
}
