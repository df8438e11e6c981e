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

package dev.dstl.spillable.table;

import java.util.TreeSet;

/**
 * Which versions of a {@link HeapMap} open views still need. Views open on the task thread and
 * close on any thread.
 */
final class HeapViews {

    private final TreeSet<Integer> open = new TreeSet<>();

    /** Task thread only. */
    private int version = 1;

    private volatile int neededBelow;

    /** What changes now carries this version. */
    int version() {
        return version;
    }

    /** What is older than this may belong to an open view; 0 if there is none. */
    int neededBelow() {
        return neededBelow;
    }

    int open() {
        synchronized (open) {
            version++;
            open.add(version);
            neededBelow = version;
            return version;
        }
    }

    void close(int viewVersion) {
        synchronized (open) {
            if (open.remove(viewVersion)) {
                neededBelow = open.isEmpty() ? 0 : open.last();
            }
        }
    }
}
