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

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.WeakHashMap;
import org.apache.flink.core.fs.Path;

/**
 * Paths of segments, one object per path however many handles name it. A path takes some 700 bytes.
 * Thread-safe.
 */
final class SharedPaths {

    private static final SharedPaths OF_PROCESS = new SharedPaths();

    @GuardedBy("this")
    private final Map<Path, WeakReference<Path>> paths = new WeakHashMap<>();

    /** Returns the paths of this process. */
    static SharedPaths ofProcess() {
        return OF_PROCESS;
    }

    /** Returns the shared object that equals a path. */
    synchronized Path share(Path path) {
        WeakReference<Path> known = paths.get(path);
        Path shared = known == null ? null : known.get();
        if (shared == null) {
            shared = path;
            paths.put(path, new WeakReference<>(path));
        }
        return shared;
    }
}
