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

package dev.dstl.spillable.size;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.annotation.Nullable;

/**
 * Estimates how many bytes of heap objects take with all that they refer to. Used by one thread.
 *
 * <p>Costs no more than a look at {@value #MOST_OBJECTS} objects: of collections and arrays a few
 * elements stand for all. What an entry shares with the one measured before it, such as a schema,
 * belongs to neither.
 */
final class ObjectSizes {

    private static final int MOST_OBJECTS = 512;
    private static final int MOST_ELEMENTS = 16;
    private static final int MOST_DEPTH = 32;
    private static final int SAMPLED_CHARS = 64;

    /** Of an object that cannot be looked at. */
    private static final long UNKNOWN_BYTES = 24;

    /** What the fields of a class say about its objects. */
    private static final class Shape {
        final long bytes;
        final List<Field> references;
        final int hidden;

        Shape(long bytes, List<Field> references, int hidden) {
            this.bytes = bytes;
            this.references = references;
            this.hidden = hidden;
        }
    }

    private final Map<Class<?>, Shape> shapes = new HashMap<>();
    private Set<Object> before = newIdentitySet();
    private Set<Object> seen = newIdentitySet();
    @Nullable private Object lastIdentity;
    private int left;

    private static Set<Object> newIdentitySet() {
        return Collections.newSetFromMap(new IdentityHashMap<>());
    }

    /**
     * To be called before the parts of an entry are measured.
     *
     * @param identity an object that no other entry has
     */
    void startEntry(@Nullable Object identity) {
        if (identity != lastIdentity) {
            lastIdentity = identity;
            Set<Object> free = before;
            before = seen;
            seen = free;
        }
        seen.clear();
    }

    /** Bytes of an object, 0 if it is null; without what was counted for the same entry already. */
    long of(Object object) {
        left = MOST_OBJECTS;
        return of(object, 0);
    }

    private long of(Object object, int depth) {
        if (object == null || object instanceof Enum || object instanceof Class) {
            return 0;
        }
        if (object instanceof String) {
            return ofString((String) object);
        }
        if (depth > MOST_DEPTH || --left < 0) {
            return UNKNOWN_BYTES;
        }
        if (object instanceof Map || object instanceof Collection) {
            try {
                return ofElements(object, depth);
            } catch (RuntimeException e) {
                // A collection of the job's own that cannot be iterated over now.
                return UNKNOWN_BYTES;
            }
        }
        if (object.getClass().isArray()) {
            return ofArray(object, depth);
        }
        return ofFields(object, depth);
    }

    private long ofElements(Object object, int depth) {
        if (object instanceof Map) {
            Map<?, ?> map = (Map<?, ?>) object;
            return emptyCollection() + map.size() * perElement(map, depth);
        }
        Collection<?> collection = (Collection<?>) object;
        return emptyCollection() + collection.size() * perElement(collection, depth);
    }

    /** Bytes of a collection object without elements. */
    static long emptyCollection() {
        return ObjectLayout.object(4, 16);
    }

    /** Bytes that an element of a collection takes on average, with its place in it. */
    long perElement(Collection<?> collection) {
        left = MOST_OBJECTS;
        try {
            return perElement(collection, 0);
        } catch (RuntimeException e) {
            return UNKNOWN_BYTES;
        }
    }

    private long perElement(Collection<?> collection, int depth) {
        long bytes = 0;
        int sampled = 0;
        Iterator<?> elements = collection.iterator();
        for (; sampled < MOST_ELEMENTS && elements.hasNext(); sampled++) {
            bytes += of(elements.next(), depth + 1);
        }
        // An array list is four fifths full on average; other collections have nodes.
        long place = collection instanceof List ? ObjectLayout.REFERENCE_BYTES * 5L / 4 : ofNode();
        return place + (sampled == 0 ? 0 : bytes / sampled);
    }

    /** Bytes that an entry of a map takes on average, with its place in it. */
    long perElement(Map<?, ?> map) {
        left = MOST_OBJECTS;
        try {
            return perElement(map, 0);
        } catch (RuntimeException e) {
            return UNKNOWN_BYTES;
        }
    }

    private long perElement(Map<?, ?> map, int depth) {
        long bytes = 0;
        int sampled = 0;
        Iterator<? extends Map.Entry<?, ?>> entries = map.entrySet().iterator();
        for (; sampled < MOST_ELEMENTS && entries.hasNext(); sampled++) {
            Map.Entry<?, ?> entry = entries.next();
            bytes += of(entry.getKey(), depth + 1) + of(entry.getValue(), depth + 1);
        }
        return ofNode() + (sampled == 0 ? 0 : bytes / sampled);
    }

    /** Node of a hash map and its place in a table that is half full. */
    static long ofNode() {
        return ObjectLayout.object(3, Integer.BYTES) + 2L * ObjectLayout.REFERENCE_BYTES;
    }

    private static long ofString(String string) {
        int bytesPerChar = 1;
        for (int i = 0; i < Math.min(SAMPLED_CHARS, string.length()); i++) {
            if (string.charAt(i) > 0xFF) {
                bytesPerChar = 2;
            }
        }
        return ObjectLayout.object(1, 2 * Integer.BYTES)
                + ObjectLayout.array(string.length(), bytesPerChar);
    }

    private long ofArray(Object array, int depth) {
        int length = Array.getLength(array);
        Class<?> type = array.getClass().getComponentType();
        if (type.isPrimitive()) {
            return ObjectLayout.array(length, fieldBytes(type));
        }
        long own = ObjectLayout.array(length, ObjectLayout.REFERENCE_BYTES);
        if (!seen.add(array) || before.contains(array) || length == 0) {
            return own;
        }
        // Elements of the same array may be of different types, as in a row: the first ones count
        // for themselves, the others like them.
        Object[] elements = (Object[]) array;
        int sampled = Math.min(length, 4 * MOST_ELEMENTS);
        long bytes = 0;
        for (int i = 0; i < sampled; i++) {
            bytes += of(elements[i], depth + 1);
        }
        return own + bytes * length / sampled;
    }

    private long ofFields(Object object, int depth) {
        Shape shape = shapes.computeIfAbsent(object.getClass(), ObjectSizes::shapeOf);
        if (shape.references.isEmpty()) {
            return shape.bytes + shape.hidden * UNKNOWN_BYTES;
        }
        if (!seen.add(object) || before.contains(object)) {
            return 0;
        }
        long bytes = shape.bytes + shape.hidden * UNKNOWN_BYTES;
        for (Field field : shape.references) {
            try {
                bytes += of(field.get(object), depth + 1);
            } catch (IllegalAccessException e) {
                bytes += UNKNOWN_BYTES;
            }
        }
        return bytes;
    }

    private static Shape shapeOf(Class<?> type) {
        long fieldBytes = 0;
        int hidden = 0;
        List<Field> references = new ArrayList<>();
        for (Class<?> one = type; one != null; one = one.getSuperclass()) {
            for (Field field : fieldsOf(one)) {
                if (Modifier.isStatic(field.getModifiers())) {
                    continue;
                }
                fieldBytes += fieldBytes(field.getType());
                if (!field.getType().isPrimitive()) {
                    if (isReadable(field)) {
                        references.add(field);
                    } else {
                        hidden++;
                    }
                }
            }
        }
        return new Shape(ObjectLayout.object(fieldBytes), references, hidden);
    }

    private static Field[] fieldsOf(Class<?> type) {
        try {
            return type.getDeclaredFields();
        } catch (LinkageError e) {
            // A field's class is not there, as of an optional dependency. The state works all the
            // same.
            return new Field[0];
        }
    }

    private static boolean isReadable(Field field) {
        try {
            field.setAccessible(true);
            return true;
        } catch (InaccessibleObjectException | SecurityException e) {
            return false;
        }
    }

    private static int fieldBytes(Class<?> type) {
        if (type == long.class || type == double.class) {
            return Long.BYTES;
        }
        if (type == int.class || type == float.class) {
            return Integer.BYTES;
        }
        if (type == short.class || type == char.class) {
            return Short.BYTES;
        }
        return type.isPrimitive() ? 1 : ObjectLayout.REFERENCE_BYTES;
    }
}
