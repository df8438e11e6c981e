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

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Tests of one map over a pool that is soon full, so that partitions are sealed in files. */
public abstract class PartitionedMapFixture {

    private static final int BUDGET_BYTES = 512 << 10;

    @TempDir Path disk;
    protected PoolOnDisk disks;
    protected PartitionedMap map;

    @BeforeEach
    protected final void open() throws IOException {
        disks = new PoolOnDisk(disk, BUDGET_BYTES);
        map = disks.newMap();
    }

    @AfterEach
    protected final void close() throws IOException {
        map.close();
        disks.close();
    }
}
