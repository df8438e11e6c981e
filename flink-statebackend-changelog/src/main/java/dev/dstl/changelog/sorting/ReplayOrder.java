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

package dev.dstl.changelog.sorting;

/** The order in which the records of a changelog are applied, without the obsolete ones. */
public enum ReplayOrder {
    /**
     * By state, key group and key, for delegates that find state by the bytes of its key. They take
     * it several times as fast.
     */
    BY_KEY,

    /**
     * By key group roughly, and as written within each, for delegates that find state by {@code
     * equals}: keys that are equal may have different bytes, and then the last one written counts.
     */
    AS_WRITTEN
}
