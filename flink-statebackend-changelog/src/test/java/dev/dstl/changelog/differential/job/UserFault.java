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

package dev.dstl.changelog.differential.job;

/** Makes the user functions that a thread runs throw. */
public final class UserFault {

    private static final ThreadLocal<int[]> CALLS_LEFT = new ThreadLocal<>();

    private UserFault() {}

    /** Thrown by user functions and caught by their caller. */
    public static final class Thrown extends RuntimeException {

        private static final long serialVersionUID = 1L;

        Thrown() {
            super("A user function fails");
        }
    }

    /** Makes further calls throw after {@code calls} successful ones. */
    static void after(int calls) {
        CALLS_LEFT.set(new int[] {calls});
    }

    static void never() {
        CALLS_LEFT.remove();
    }

    /** Called by each user function. */
    static void check() {
        int[] left = CALLS_LEFT.get();
        if (left != null && left[0]-- <= 0) {
            throw new Thrown();
        }
    }
}
