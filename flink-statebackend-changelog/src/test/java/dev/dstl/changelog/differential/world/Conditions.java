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

package dev.dstl.changelog.differential.world;

import java.util.EnumMap;
import java.util.Map;

/** Number of occurrences of each condition. */
public final class Conditions {

    private final Map<Coverage, Long> counts = new EnumMap<>(Coverage.class);

    public void met(Coverage what) {
        counts.merge(what, 1L, Long::sum);
    }

    public void metIf(boolean condition, Coverage what) {
        if (condition) {
            met(what);
        }
    }

    public Map<Coverage, Long> counts() {
        return counts;
    }
}
