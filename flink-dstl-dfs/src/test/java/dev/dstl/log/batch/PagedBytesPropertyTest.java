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

package dev.dstl.log.batch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class PagedBytesPropertyTest {

    private static final int PAGES = 3;

    @Property
    void sameBytesAreEqualAndHashAlikeWhereverTheyLie(
            @ForAll @Size(max = 100) byte[] content,
            @ForAll @IntRange(min = 0, max = 200) int leftShift,
            @ForAll @IntRange(min = 0, max = 200) int rightShift,
            @ForAll int seed) {
        long left = 1L * PagePool.PAGE_BYTES - leftShift;
        long right = 2L * PagePool.PAGE_BYTES - rightShift;
        byte[][] pages = new byte[PAGES][PagePool.PAGE_BYTES];
        Random noise = new Random(seed);
        for (byte[] page : pages) {
            noise.nextBytes(page);
        }
        write(pages, left, content);
        write(pages, right, content);
        PagedBytes bytes = new PagedBytes(pages, (long) PAGES * PagePool.PAGE_BYTES);

        assertThat(bytes.equal(left, right, content.length)).isTrue();
        assertThat(bytes.hash(left, content.length, seed))
                .isEqualTo(bytes.hash(right, content.length, seed));
        byte[] copy = new byte[content.length];
        bytes.copyTo(left, copy, 0, copy.length);
        assertThat(copy).isEqualTo(content);
    }

    @Property
    void aDifferenceInAnyByteIsSeen(
            @ForAll @Size(min = 1, max = 100) byte[] content,
            @ForAll @IntRange(min = 0, max = 200) int shift,
            @ForAll @IntRange(min = 0, max = 99) int where) {
        long left = 1L * PagePool.PAGE_BYTES - shift;
        long right = 2L * PagePool.PAGE_BYTES;
        byte[][] pages = new byte[PAGES][PagePool.PAGE_BYTES];
        write(pages, left, content);
        content[where % content.length] ^= 1;
        write(pages, right, content);
        PagedBytes bytes = new PagedBytes(pages, (long) PAGES * PagePool.PAGE_BYTES);

        assertThat(bytes.equal(left, right, content.length)).isFalse();
    }

    /** Usual keys differ little; their hashes must not collide in a few slots. */
    @Property(tries = 300)
    void consecutiveKeysSpreadOverATable(
            @ForAll @IntRange(min = 2, max = 40) int length, @ForAll long seed) {
        byte[] page = new byte[PagePool.PAGE_BYTES];
        new Random(seed).nextBytes(page);
        PagedBytes bytes = new PagedBytes(new byte[][] {page}, page.length);
        boolean[] used = new boolean[4096];
        int slots = 0;
        for (int key = 0; key < 4096; key++) {
            page[length - 2] = (byte) (key >>> 8);
            page[length - 1] = (byte) key;
            int slot = bytes.hash(0, length, 1) & 4095;
            slots += used[slot] ? 0 : 1;
            used[slot] = true;
        }
        // A random function hits 63 % of the slots.
        assertThat(slots).isGreaterThan(4096 * 60 / 100);
    }

    private static void write(byte[][] pages, long position, byte[] content) {
        for (int i = 0; i < content.length; i++) {
            long at = position + i;
            pages[(int) (at / PagePool.PAGE_BYTES)][(int) (at % PagePool.PAGE_BYTES)] = content[i];
        }
    }
}
