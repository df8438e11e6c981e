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
import java.util.Arrays;
import java.util.List;
import java.util.function.LongConsumer;

/** A growing list of addresses. */
public final class Addresses implements LongConsumer {

    private long[] addresses = new long[64];
    private int count;

    @Override
    public void accept(long address) {
        if (count == addresses.length) {
            addresses = Arrays.copyOf(addresses, count << 1);
        }
        addresses[count++] = address;
    }

    /** Number of addresses. */
    public int count() {
        return count;
    }

    /** The address accepted as number {@code index}. */
    public long get(int index) {
        return addresses[index];
    }

    /** Forgets all addresses. */
    public void clear() {
        count = 0;
    }

    /**
     * Copies of the keys of the entries, which hold over changes.
     *
     * @param entries that gave the addresses, with no change since
     */
    public List<byte[]> copyKeys(EntryReader entries) {
        List<byte[]> keys = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            entries.read(addresses[i]);
            keys.add(entries.copyKey());
        }
        return keys;
    }
}
