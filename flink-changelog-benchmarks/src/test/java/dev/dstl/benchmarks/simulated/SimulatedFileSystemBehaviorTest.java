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

package dev.dstl.benchmarks.simulated;

import dev.dstl.benchmarks.simulated.store.StoreProfile;
import dev.dstl.benchmarks.simulated.store.StoreTime;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.FileSystemBehaviorTestSuite;
import org.apache.flink.core.fs.FileSystemKind;
import org.apache.flink.core.fs.Path;

/** Flink's own contract of file systems. */
class SimulatedFileSystemBehaviorTest extends FileSystemBehaviorTestSuite {

    @Override
    protected FileSystem getFileSystem() {
        return SimulatedStores.fileSystem(
                "bench", SimulatedStores.inMemory(StoreProfile.instant(), StoreTime.SYSTEM));
    }

    @Override
    protected Path getBasePath() {
        return new Path("sim://bench/base");
    }

    @Override
    protected FileSystemKind getFileSystemKind() {
        return FileSystemKind.OBJECT_STORE;
    }
}
