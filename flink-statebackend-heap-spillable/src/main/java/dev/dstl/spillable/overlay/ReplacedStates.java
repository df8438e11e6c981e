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

package dev.dstl.spillable.overlay;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Lets a query notice that a state of several entries was removed or got other contents while it
 * was read: a number for all keys whose hashes agree in some bits, odd while one of their states is
 * on its way. Only the task thread changes the numbers.
 */
final class ReplacedStates {

    /** Enough of them, and other keys seldom make a query look again. */
    private static final int NUMBERS = 1024;

    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(int[].class);

    private final int[] numbers = new int[NUMBERS];
    private int open;
    private int current;

    /** A state begins to be replaced; one that contains the other counts. */
    void begin(int hash) {
        if (open++ == 0) {
            current = index(hash);
            ELEMENT.setOpaque(numbers, current, numbers[current] + 1);
            VarHandle.storeStoreFence();
        }
    }

    /** What {@link #begin} has begun is done. */
    void end() {
        if (--open == 0) {
            ELEMENT.setRelease(numbers, current, numbers[current] + 1);
        }
    }

    /** What a query keeps before it reads the first entry of a state, for {@link #isStill}. */
    int number(int hash) {
        return (int) ELEMENT.getAcquire(numbers, index(hash));
    }

    /** Whether the state was not being replaced when the number was kept, nor since. */
    boolean isStill(int hash, int number) {
        VarHandle.acquireFence();
        return (number & 1) == 0 && (int) ELEMENT.getOpaque(numbers, index(hash)) == number;
    }

    private static int index(int hash) {
        return (hash ^ (hash >>> 16)) & (NUMBERS - 1);
    }
}
