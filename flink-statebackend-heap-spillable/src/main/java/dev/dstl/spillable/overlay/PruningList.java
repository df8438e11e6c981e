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

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Elements in no order. Forgets those that are gone before it doubles, so that elements that come
 * and go are not kept. Used by the task thread.
 */
final class PruningList<T> {

    private static final int FEW = 64;

    private final List<T> elements = new ArrayList<>();
    private final Predicate<? super T> isGone;
    private int beforeCleanUp = FEW;

    /**
     * @param isGone whether an element is no longer needed; stays so once it is
     */
    PruningList(Predicate<? super T> isGone) {
        this.isGone = isGone;
    }

    void add(T element) {
        if (elements.size() >= beforeCleanUp) {
            elements.removeIf(isGone);
            beforeCleanUp = Math.max(FEW, 2 * elements.size());
        }
        elements.add(element);
    }

    int size() {
        return elements.size();
    }

    boolean isEmpty() {
        return elements.isEmpty();
    }

    T get(int index) {
        return elements.get(index);
    }

    /** Removes an element; the last one takes its place. */
    void remove(int index) {
        T last = elements.remove(elements.size() - 1);
        if (index < elements.size()) {
            elements.set(index, last);
        }
    }
}
