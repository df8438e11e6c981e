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

import dev.dstl.spillable.layout.SpilledLayout;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.annotation.Nullable;

/**
 * Looks up one entry from another thread than the task's, while the task changes what is looked at.
 * A look that fails or finds nothing is repeated: the task may have moved the entry meanwhile.
 */
public final class StateQuery<K, N, S> {

    /** An entry on its way from one side to the other may be missed once. */
    private static final int LOOKS = 3;

    private static final int ATTEMPTS = 100;

    /** Further ones take their time: the task may wait for a disk while it replaces a state. */
    private static final int ATTEMPTS_IN_A_ROW = 10;

    private static final long SHORTEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long LONGEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final String stateName;
    private final KeyGroupMap<K, N, S> group;
    private final SpilledLayout<K, N, S> layout;

    /**
     * @param layout of the calling thread's own
     */
    StateQuery(String stateName, KeyGroupMap<K, N, S> group, SpilledLayout<K, N, S> layout) {
        this.stateName = stateName;
        this.group = group;
        this.layout = layout;
    }

    /** What is made of a state that the task may be changing. */
    public interface Reading<S, R> {
        /**
         * @throws Exception if the state changes meanwhile
         */
        R of(S state) throws Exception;
    }

    /**
     * @return what {@code reading} makes of the state, or null if there is none
     * @throws IllegalStateException if the task changes it all the time
     */
    @Nullable
    <R> R read(K key, N namespace, Reading<S, R> reading) {
        for (int attempt = 1; ; attempt++) {
            try {
                S state = group.peek(key, namespace, layout);
                if (state != null) {
                    return reading.of(state);
                }
                // Once is not enough: between heap and files the entry may have changed sides.
                if (attempt >= LOOKS) {
                    return null;
                }
            } catch (Exception e) {
                // The task changed what was being read.
                if (attempt >= ATTEMPTS) {
                    throw new IllegalStateException(
                            String.format(
                                    "State '%s' changed under each of %d attempts to query it; try"
                                            + " again.",
                                    stateName, attempt),
                            e);
                }
            }
            pause(attempt);
        }
    }

    private static void pause(int attempt) {
        int slow = attempt - ATTEMPTS_IN_A_ROW;
        if (slow < 0) {
            Thread.onSpinWait();
        } else {
            LockSupport.parkNanos(Math.min(LONGEST_PAUSE_NANOS, (slow + 1) * SHORTEST_PAUSE_NANOS));
        }
    }
}
