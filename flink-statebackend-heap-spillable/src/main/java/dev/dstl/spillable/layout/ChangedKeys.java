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

import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

/** User keys of a large map that have changed since the entries under them were copied. */
final class ChangedKeys<UK> {

    private static final int IN_SLICE = 2048;
    private static final int SHARE = 4;

    /** In order, so that those that are left are found without a look at those that are gone. */
    private final Set<UK> userKeys = new LinkedHashSet<>();

    /** Copies the entry under a user key again, or removes it. */
    interface Repetition<UK> {
        void of(UK userKey) throws IOException;
    }

    /**
     * @param userKey the caller keeps no reference to it
     * @return number of user keys
     */
    int add(UK userKey) {
        userKeys.add(userKey);
        return userKeys.size();
    }

    /**
     * Repeats some milliseconds' worth, and of a backlog so many that the job cannot add more
     * meanwhile.
     */
    void repeatSome(Repetition<UK> repetition) throws IOException {
        repeat(Math.max(IN_SLICE, userKeys.size() / SHARE), repetition);
    }

    void repeatAll(Repetition<UK> repetition) throws IOException {
        repeat(userKeys.size(), repetition);
    }

    private void repeat(int most, Repetition<UK> repetition) throws IOException {
        Iterator<UK> left = userKeys.iterator();
        for (int i = 0; i < most && left.hasNext(); i++) {
            repetition.of(left.next());
            left.remove();
        }
    }
}
