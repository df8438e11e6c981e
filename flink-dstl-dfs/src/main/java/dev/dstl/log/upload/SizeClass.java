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

package dev.dstl.log.upload;

/** Groups segments whose uploads take similarly long. */
final class SizeClass {

    /** Classes are up to 16 KiB, then four times as large each, the last one unbounded. */
    static final int COUNT = 7;

    /** Size that takes about one round trip to the store; smaller segments are not faster. */
    static final long SMALLEST_BYTES = 16 << 10;

    private SizeClass() {}

    /** Returns the class of a size, in {@code [0, COUNT)}, ascending. */
    static int of(long bytes) {
        int sizeClass = 0;
        long bound = SMALLEST_BYTES;
        while (bytes > bound && sizeClass < COUNT - 1) {
            bound *= 4;
            sizeClass++;
        }
        return sizeClass;
    }
}
