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

package dev.dstl.benchmarks.simulated.content;

/** Key, length and time of a visible object. Immutable. */
public final class StoredObject {

    private final String key;
    private final long length;
    private final long modifiedMillis;

    /** Creates an object with its length in bytes and its time in milliseconds since the epoch. */
    public StoredObject(String key, long length, long modifiedMillis) {
        this.key = key;
        this.length = length;
        this.modifiedMillis = modifiedMillis;
    }

    /** Returns the key, without a leading slash. */
    public String key() {
        return key;
    }

    /** Returns the length in bytes. */
    public long length() {
        return length;
    }

    /** Returns when the object became visible, in milliseconds since the epoch. */
    public long modifiedMillis() {
        return modifiedMillis;
    }

    @Override
    public String toString() {
        return key + " (" + length + " bytes)";
    }
}
