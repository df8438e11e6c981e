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

package dev.dstl.spillable.entry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.spillable.chunk.ChunkFiles;
import dev.dstl.spillable.chunk.SpillDirectories;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;

/** A block pool over one directory, with chunk files of 1 MiB; checks that it gets all back. */
public final class PoolOnDisk implements AutoCloseable {

    private final BlockPool pool;
    private boolean released;

    public PoolOnDisk(Path disk, long budgetBytes) throws IOException {
        pool =
                new BlockPool(
                        new OffHeapBudget(budgetBytes, () -> released = true),
                        new ChunkFiles(
                                new SpillDirectories(Collections.singletonList(disk)),
                                1 << 20,
                                () -> 0),
                        () -> 0);
    }

    /** The pool of a backend that spills to a directory. */
    public static SpillSpace space(Path disk, long budgetBytes) {
        return new SpillSpace(() -> new PoolOnDisk(disk, budgetBytes).pool());
    }

    public BlockPool pool() {
        return pool;
    }

    boolean isReleased() {
        return released;
    }

    @Override
    public void close() throws IOException {
        pool.close();
        assertThat(pool.budget().indexBytes()).as("index never given back").isZero();
        assertThat(pool.budget().blockBytes()).as("blocks never given back").isZero();
        assertThat(released).as("budget released").isTrue();
    }
}
