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
 * Lets a reader of another thread notice that what it looked at has changed meanwhile: a number
 * that is odd while a change is under way. Changes do not contain each other, and belong to one
 * thread, which pays two stores and no fence on x86.
 */
public final class ChangeSequence {

    private static final VarHandle NUMBER;

    static {
        try {
            NUMBER =
                    MethodHandles.lookup().findVarHandle(ChangeSequence.class, "number", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused") // by the handle
    private int number;

    /** A change begins. */
    public void begin() {
        NUMBER.setOpaque(this, ((int) NUMBER.get(this) + 1) | 1);
        VarHandle.storeStoreFence();
    }

    /** The change is done. */
    public void end() {
        NUMBER.setRelease(this, ((int) NUMBER.get(this) | 1) + 1);
    }

    /** What a reader keeps before it looks, for {@link #isStill}. */
    public int current() {
        return (int) NUMBER.getAcquire(this);
    }

    /** Whether nothing was changing then. */
    static boolean isQuiet(int current) {
        return (current & 1) == 0;
    }

    /** Whether nothing was changing when {@code before} was kept, and nothing has since. */
    public boolean isStill(int before) {
        VarHandle.acquireFence();
        return isQuiet(before) && (int) NUMBER.getOpaque(this) == before;
    }
}
