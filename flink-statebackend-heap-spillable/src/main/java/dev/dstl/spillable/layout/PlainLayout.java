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
import dev.dstl.spillable.overlay.PartitionedMap;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputView;

/** A state in one entry, as its serializer writes it. */
public final class PlainLayout<K, N, S> extends SpilledLayout<K, N, S> {

    private final TypeSerializer<S> stateSerializer;

    /**
     * @param stateSerializer of the whole state; it and the other serializers are used by this
     *     layout's thread only
     */
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
    public S read(EntryReader entries) throws IOException {
        if (find(entries) == 0) {
            return null;
        }
        in.setBuffer(copyValue(entries, 0), 0, entries.valueLength());
        S state = deserialize(stateSerializer, in);
        in.releaseArrays();
        return state;
    }

    @Override
    public void write(PartitionedMap map, S state) throws IOException {
        valueOut = cleared(valueOut);
        serialize(stateSerializer, state, valueOut);
        put(map, valueOut.getSharedBuffer(), valueOut.length());
    }

    @Override
    public int elements(EntryReader entries) {
        return 0;
    }

    @Override
    int parts(EntryReader entries) {
        return 0;
    }

    @Override
    public boolean delete(PartitionedMap map) {
        return remove(map);
    }

    /**
     * Key and value lie one behind the other as the snapshot has them, so no selection is needed.
     */
    @Override
    public void copyEntry(EntryReader entries, long address, DataOutputView out)
            throws IOException {
        entries.read(address);
        int length = entries.keyLength() + entries.valueLength();
        out.write(copyBytes(entries, entries.keyOffset(), length), 0, length);
    }

    @Override
    void copyState(EntryReader entries, DataOutputView out) throws IOException {
        find(entries);
        out.write(copyValue(entries, 0), 0, entries.valueLength());
    }
}
