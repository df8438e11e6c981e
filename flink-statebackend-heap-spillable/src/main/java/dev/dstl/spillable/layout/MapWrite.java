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

import dev.dstl.spillable.overlay.PartitionedMap;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;

/** Copies a large map to buckets, a piece of its table at a time. */
final class MapWrite<UK, UV> implements SlicedWrite<Map<UK, UV>> {

    /** The numbers of a map that is copied to buckets and has no head yet. */
    static final class Copied {
        int userEntries;
        int buckets = 2;
    }

    private final MapLayout<?, ?, UK, UV> layout;
    private final HashMapCursor<UK, UV> cursor = new HashMapCursor<>();
    private final ChangedKeys<UK> changed = new ChangedKeys<>();
    private final Copied copied = new Copied();
    private boolean started;
    private boolean more = true;

    MapWrite(MapLayout<?, ?, UK, UV> layout) {
        this.layout = layout;
    }

    @Override
    public boolean write(PartitionedMap map, Map<UK, UV> state, int slices) throws IOException {
        if (!started) {
            started = true;
            layout.deleteParts(map, 0, copied.buckets);
        }
        changed.repeatSome(userKey -> repeat(map, state, userKey));
        if (more) {
            try {
                more = cursor.visit(state, slices, entry -> put(map, entry));
            } catch (UncheckedIOException e) {
                throw e.getCause();
            }
        }
        if (!more) {
            changed.repeatAll(userKey -> repeat(map, state, userKey));
        }
        return !more;
    }

    private void repeat(PartitionedMap map, Map<UK, UV> state, UK userKey) throws IOException {
        if (state.containsKey(userKey)) {
            layout.putCopied(map, copied, userKey, state.get(userKey));
        } else {
            layout.removeCopied(map, copied, userKey);
        }
    }

    private void put(PartitionedMap map, Map.Entry<UK, UV> entry) {
        try {
            layout.putCopied(map, copied, entry.getKey(), entry.getValue());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    @SuppressWarnings("unchecked") // the user keys of the map
    public int changed(Object userKey) {
        return changed.add(layout.copyUserKey((UK) userKey));
    }

    @Override
    public void finish(PartitionedMap map) throws IOException {
        layout.finishCopied(map, copied);
    }

    @Override
    public int parts() {
        return copied.buckets;
    }
}
