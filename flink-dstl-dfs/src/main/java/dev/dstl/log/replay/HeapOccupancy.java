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

package dev.dstl.log.replay;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.util.List;
import java.util.stream.Collectors;

/**
 * How full the heap is of objects that have survived a garbage collection. New objects are not
 * counted: most of them are garbage, and their share depends on when the last collection was. Where
 * a collector has one pool for all, everything counts.
 */
final class HeapOccupancy {

    private static final List<MemoryPoolMXBean> POOLS =
            ManagementFactory.getMemoryPoolMXBeans().stream()
                    .filter(pool -> pool.getType() == MemoryType.HEAP)
                    .filter(pool -> !pool.getName().contains("Eden"))
                    .collect(Collectors.toList());

    private HeapOccupancy() {}

    static boolean isLessThanHalf() {
        long used = 0;
        for (MemoryPoolMXBean pool : POOLS) {
            used += pool.getUsage().getUsed();
        }
        return used < Runtime.getRuntime().maxMemory() / 2;
    }
}
