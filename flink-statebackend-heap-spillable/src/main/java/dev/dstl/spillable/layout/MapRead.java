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

import dev.dstl.spillable.overlay.EntryReader;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import javax.annotation.Nullable;

/**
 * Copies a large map from its buckets, some of them at a time. A bucket that splits puts user
 * entries behind the last one only, so none is missed.
 */
final class MapRead<UK, UV> implements SlicedRead<Map<UK, UV>> {

    private final MapLayout<?, ?, UK, UV> layout;
    private final ChangedKeys<UK> changed = new ChangedKeys<>();
    private final Allocation<Map<UK, UV>> allocation = new Allocation<>();
    @Nullable private Map<UK, UV> target;
    private int nextBucket;

    MapRead(MapLayout<?, ?, UK, UV> layout) {
        this.layout = layout;
    }

    @Override
    @Nullable
    public Map<UK, UV> read(EntryReader entries, int slices) throws IOException {
        if (target == null) {
            int elements = layout.elements(entries);
            target = allocation.get(elements, () -> allocate(elements));
            if (target == null) {
                return null;
            }
        }
        changed.repeatSome(userKey -> repeat(entries, userKey));
        int buckets = layout.bucketCount(entries);
        for (int i = 0; i < slices && nextBucket < buckets; i++) {
            layout.visitBucket(entries, nextBucket++, buckets, entries.keyHash(), target::put);
        }
        if (nextBucket < buckets) {
            return null;
        }
        changed.repeatAll(userKey -> repeat(entries, userKey));
        return target;
    }

    private void repeat(EntryReader entries, UK userKey) throws IOException {
        if (layout.contains(entries, userKey)) {
            target.put(userKey, layout.get(entries, userKey));
        } else {
            target.remove(userKey);
        }
    }

    private static <UK, UV> Map<UK, UV> allocate(int elements) {
        Map<UK, UV> map = new HashMap<>((int) Math.min(1 << 30, elements * 4L / 3 + 1));
        // The first entry makes the table.
        map.put(null, null);
        map.remove(null);
        return map;
    }

    @Override
    @SuppressWarnings("unchecked") // the user keys of the map
    public int changed(Object userKey) {
        return changed.add(layout.copyUserKey((UK) userKey));
    }
}
