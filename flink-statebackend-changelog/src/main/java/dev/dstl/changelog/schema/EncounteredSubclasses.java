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

package dev.dstl.changelog.schema;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.typeutils.runtime.PojoSerializer;

/**
 * The subclasses that POJO serializers have encountered. A snapshot of a POJO serializer describes
 * only those: values of other subclasses cannot be read once their fields have changed. Used by the
 * task thread, as serializers are.
 */
public final class EncounteredSubclasses {

    private static final Map<?, ?>[] NONE = {};

    private final TypeSerializer<?> serializer;

    /** Live maps of the serializers' subclasses. */
    private Map<?, ?>[] met = NONE;

    private int count;

    /** Records the subclasses that {@code serializer} has encountered so far. */
    public EncounteredSubclasses(TypeSerializer<?> serializer) {
        this.serializer = serializer;
        update();
    }

    /**
     * Returns whether there are more subclasses than at the last {@link #update}. Allocates
     * nothing.
     */
    public boolean areMore() {
        return count() != count;
    }

    /**
     * Records all current subclasses.
     *
     * @throws IllegalStateException if this version of Flink does not expose them
     */
    public void update() {
        List<Map<?, ?>> found = new ArrayList<>();
        try {
            collect(serializer, found);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(
                    "This version of Flink does not expose the subclasses that a POJO serializer"
                            + " has encountered, which a changelog must know",
                    e);
        }
        met = found.toArray(NONE);
        count = count();
    }

    private int count() {
        int sum = 0;
        for (Map<?, ?> ofOne : met) {
            sum += ofOne.size();
        }
        return sum;
    }

    private static void collect(TypeSerializer<?> serializer, List<Map<?, ?>> found)
            throws ReflectiveOperationException {
        if (!(serializer instanceof PojoSerializer)) {
            collect(SerializerInternals.nested(serializer), found);
            return;
        }
        PojoSerializer<?> pojo = (PojoSerializer<?>) serializer;
        Map<Class<?>, TypeSerializer<?>> subclasses = SerializerInternals.metSubclasses(pojo);
        found.add(subclasses);
        collect(SerializerInternals.fieldSerializers(pojo), found);
        collect(SerializerInternals.registeredSerializers(pojo), found);
        collect(subclasses.values().toArray(new TypeSerializer<?>[0]), found);
    }

    private static void collect(TypeSerializer<?>[] serializers, List<Map<?, ?>> found)
            throws ReflectiveOperationException {
        for (TypeSerializer<?> serializer : serializers) {
            collect(serializer, found);
        }
    }
}
