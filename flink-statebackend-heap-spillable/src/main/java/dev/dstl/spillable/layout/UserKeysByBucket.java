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

import dev.dstl.spillable.partition.KeyHash;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/**
 * The user keys of a map on the heap by the bucket they had while the map was spilled. So an
 * iterator that goes on bucket by bucket walks the map once, and not once per bucket. Takes 4 bytes
 * per user key, and twice as many while it is created. Task thread only.
 */
final class UserKeysByBucket<UK> {

    private final int firstBucket;

    /** Where the user keys of each bucket end, exclusive. */
    private final int[] ends;

    private final List<UK> userKeys;

    private UserKeysByBucket(int firstBucket, int[] ends, List<UK> userKeys) {
        this.firstBucket = firstBucket;
        this.ends = ends;
        this.userKeys = userKeys;
    }

    /**
     * Walks a map once.
     *
     * @param map on the heap
     * @param layout knows the buckets
     * @param firstBucket user keys of the buckets before it are left out
     * @param bucketCount number of buckets of the spilled map, more than {@code firstBucket}
     * @param hash by which the spilled map found its buckets
     * @throws IOException if a user key cannot be serialized
     */
    static <UK> UserKeysByBucket<UK> of(
            Map<UK, ?> map,
            MapLayout<?, ?, UK, ?> layout,
            int firstBucket,
            int bucketCount,
            KeyHash hash)
            throws IOException {
        int[] buckets = new int[map.size()];
        int[] sizes = new int[bucketCount - firstBucket];
        int visited = 0;
        for (UK userKey : map.keySet()) {
            int bucket = layout.originalBucket(userKey, bucketCount, hash) - firstBucket;
            buckets[visited++] = bucket;
            if (bucket >= 0) {
                sizes[bucket]++;
            }
        }
        int[] places = new int[sizes.length];
        for (int i = 1; i < sizes.length; i++) {
            places[i] = places[i - 1] + sizes[i - 1];
        }
        int left = places[sizes.length - 1] + sizes[sizes.length - 1];
        List<UK> sorted = new ArrayList<>(Collections.nCopies(left, null));
        visited = 0;
        for (UK userKey : map.keySet()) {
            int bucket = buckets[visited++];
            if (bucket >= 0) {
                sorted.set(places[bucket]++, userKey);
            }
        }
        return new UserKeysByBucket<>(firstBucket, places, sorted);
    }

    /** Returns the user keys of a bucket, {@code firstBucket} or later. */
    List<UK> of(int bucket) {
        int index = bucket - firstBucket;
        return userKeys.subList(index == 0 ? 0 : ends[index - 1], ends[index]);
    }
}
