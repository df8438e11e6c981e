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
 * <p>A backend has one seed, and what it writes names it: partitions of the same seed can be read
 * side by side, one of another seed has to be rewritten.
 */
public class KeyHash {

    private final long seed;

    /**
     * @param seed any number; the same one makes the same hashes
     */
    public KeyHash(long seed) {
        this.seed = seed;
    }

    /** The seed, as partitions carry it. */
    public long seed() {
        return seed;
    }

    /** Hash of {@code [0, length)}: the same for equal bytes, well spread in all 32 bits. */
    public int of(byte[] bytes, int length) {
        return EntryFormat.hash(seed, bytes, length);
    }
}
