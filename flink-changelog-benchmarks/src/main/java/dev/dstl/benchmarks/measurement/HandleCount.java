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

package dev.dstl.benchmarks.measurement;

import java.util.Set;
import java.util.TreeSet;

/** Number of handles in the metadata of the last checkpoint. Written as JSON. */
public final class HandleCount {

    /** Largest number of changelog handles of a subtask. */
    public long logPerSubtask;

    /** Largest number of handles of a subtask. */
    public long perSubtask;

    /** Size of the {@code _metadata} file in bytes. */
    public long metadataBytes;

    /** Storages that wrote the changelog; empty without a changelog. */
    public Set<String> logStorages = new TreeSet<>();
}
