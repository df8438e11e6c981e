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

package dev.dstl.spillable.incremental;

import dev.dstl.spillable.overlay.RestoredPartition;
import dev.dstl.spillable.overlay.SpilledView;
import java.util.List;

/** What a snapshot has of one state in one key group. */
final class SpilledGroup {

    final String stateName;
    final int keyGroup;
    final SpilledView view;
    final List<RestoredPartition> partitions;

    /**
     * @param view closed by whoever opened it
     */
    SpilledGroup(String stateName, int keyGroup, SpilledView view) {
        this.stateName = stateName;
        this.keyGroup = keyGroup;
        this.view = view;
        this.partitions = view.partitions();
    }
}
