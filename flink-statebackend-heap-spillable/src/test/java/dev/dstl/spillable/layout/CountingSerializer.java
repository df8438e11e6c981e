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

import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;

/** Counts the integers that it serializes and deserializes. Not thread-safe. */
public final class CountingSerializer extends WatchedIntegers {

    private static final long serialVersionUID = 1L;

    private static int serialized;
    private static int deserialized;
    private static int mostUnwritten;

    /** Forgets what was counted. */
    public static void reset() {
        serialized = 0;
        deserialized = 0;
        mostUnwritten = 0;
    }

    /** How many were deserialized at most before as many were serialized. */
    public static int mostUnwritten() {
        return mostUnwritten;
    }

    public static int serialized() {
        return serialized;
    }

    public static int deserialized() {
        return deserialized;
    }

    @Override
    protected void written() {
        serialized++;
    }

    @Override
    protected void read() {
        deserialized++;
        mostUnwritten = Math.max(mostUnwritten, deserialized - serialized);
    }

    @Override
    public TypeSerializerSnapshot<Integer> snapshotConfiguration() {
        return new SimpleTypeSerializerSnapshot<Integer>(CountingSerializer::new) {};
    }
}
