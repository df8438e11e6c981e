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

package dev.dstl.changelog.differential.schema;

/** Equal by its number. Each instance that a thread creates is written differently. */
public final class Entity {

    private static final ThreadLocal<int[]> CREATED = ThreadLocal.withInitial(() -> new int[1]);

    public int number;
    public int instance;

    /** For the serializer. */
    public Entity() {}

    /** Repeats the same instances from now on, for a history that is to be repeated. */
    public static void startAgain() {
        CREATED.remove();
    }

    static Entity of(int number) {
        Entity entity = new Entity();
        entity.number = number;
        entity.instance = Integer.reverse(++CREATED.get()[0]);
        return entity;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Entity && ((Entity) other).number == number;
    }

    @Override
    public int hashCode() {
        return number;
    }

    @Override
    public String toString() {
        return "entity " + number;
    }
}
