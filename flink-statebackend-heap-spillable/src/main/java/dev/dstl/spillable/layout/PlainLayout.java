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

import dev.dstl.spillable.entry.EntryStore;
import dev.dstl.spillable.entry.SpilledMap;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputView;

/** A state in one entry, as its serializer writes it. */
public final class PlainLayout<K, N, S> extends SpilledLayout<K, N, S> {

    private final TypeSerializer<S> stateSerializer;

    public PlainLayout(
            TypeSerializer<K> keySerializer,
            TypeSerializer<N> namespaceSerializer,
            TypeSerializer<S> stateSerializer) {
        super(keySerializer, namespaceSerializer);
        this.stateSerializer = stateSerializer;
    }

    @Override
    public PlainLayout<K, N, S> duplicate() {
        return new PlainLayout<>(
                keySerializer.duplicate(),
                namespaceSerializer.duplicate(),
                stateSerializer.duplicate());
    }

    @Override
    public S read(EntryStore store) throws IOException {
        if (find(store) == 0) {
            return null;
        }
        in.setBuffer(copyValue(store, 0), 0, store.valueLength());
        return stateSerializer.deserialize(in);
    }

    @Override
    public void write(SpilledMap map, S state) throws IOException {
        valueOut.clear();
        stateSerializer.serialize(state, valueOut);
        put(map, valueOut.getSharedBuffer(), valueOut.length());
    }

    @Override
    public boolean delete(SpilledMap map) {
        return remove(map);
    }

    /** Key and value lie one behind the other as the snapshot has them. */
    @Override
    public void copyEntry(EntryStore store, long address, DataOutputView out) throws IOException {
        store.read(address);
        int length = store.keyLength() + store.valueLength();
        out.write(copyBytes(store, store.keyOffset(), length), 0, length);
    }

    @Override
    void copyState(EntryStore store, DataOutputView out) throws IOException {
        find(store);
        out.write(copyValue(store, 0), 0, store.valueLength());
    }
}
