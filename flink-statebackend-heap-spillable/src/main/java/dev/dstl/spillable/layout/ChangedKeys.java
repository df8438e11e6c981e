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

package dev.dstl.spillable.layout;

/** How many user keys that change while a large map is copied are copied again in one slice. */
final class ChangedKeys {

    private static final int IN_SLICE = 2048;
    private static final int SHARE = 4;

    private ChangedKeys() {}

    /**
     * Some milliseconds' worth, and of a backlog so many that the job cannot add more meanwhile.
     */
    static int inSlice(int changed) {
        return Math.max(IN_SLICE, changed / SHARE);
    }
}
