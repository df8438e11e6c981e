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

package dev.dstl.spillable.partition;

/**
 * Hash of serialized keys with a seed, so that nobody who chooses keys knows which of them collide.
 *
 * <p>All partitions of one state in one key group have the same seed, which they name. A backend
 * draws one for what it spills itself; partitions that it restores keep theirs.
 *
 * <p>Each step multiplies by a number that follows from the seed and folds the 128 bits of the
 * product, as in Wang Yi's wyhash. Multiplying by a known number would not do: changes of the upper
 * bits of two words cancel each other out whatever the seed is.
 */
public class KeyHash {

    /** Spreads what short keys leave in few bits. */
    private static final long LAST_MULTIPLIER = 0x9E3779B97F4A7C15L;

    private final long seed;

    /** Follows from the seed and is as secret. */
    private final long multiplier;

    /**
     * @param seed any number; the same one makes the same hashes
     */
    public KeyHash(long seed) {
        this.seed = seed;
        long next = seed + LAST_MULTIPLIER;
        long mixed = (next ^ (next >>> 30)) * 0xBF58476D1CE4E5B9L;
        this.multiplier = fold(mixed ^ (mixed >>> 27), 0x94D049BB133111EBL) | 1;
    }

    /** The seed, as partitions carry it. */
    public long seed() {
        return seed;
    }

    /** Hash of {@code [0, length)}: the same for equal bytes, well spread in all 32 bits. */
    public int of(byte[] bytes, int length) {
        return of(bytes, 0, length);
    }

    /** Hash of {@code [offset, offset + length)}, as {@link #of(byte[], int)}. */
    public int of(byte[] bytes, int offset, int length) {
        long hash = seed ^ length;
        int at = offset;
        for (int end = offset + length - Long.BYTES; at <= end; at += Long.BYTES) {
            hash = fold(hash ^ EntryFormat.longAt(bytes, at), multiplier);
        }
        long rest = 0;
        for (; at < offset + length; at++) {
            rest = (rest << Byte.SIZE) | (bytes[at] & 0xFF);
        }
        hash = fold(hash ^ rest, multiplier);
        hash = fold(hash ^ seed, LAST_MULTIPLIER);
        return (int) (hash ^ (hash >>> Integer.SIZE));
    }

    private static long fold(long first, long second) {
        return Math.multiplyHigh(first, second) ^ (first * second);
    }
}
