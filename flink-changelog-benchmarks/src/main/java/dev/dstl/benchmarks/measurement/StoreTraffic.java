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

import java.util.Map;
import java.util.TreeMap;

/** Requests to a store from all processes of the cluster. Written as JSON. */
public final class StoreTraffic {

    /** Number of requests by type: PUT, GET, HEAD, LIST, DELETE. */
    public Map<String, Long> requests = new TreeMap<>();

    /** Bytes of all successful PUTs. */
    public long bytesWritten;

    /** Bytes of all GETs. */
    public long bytesRead;

    /** Returns the number of requests of a type, successful or not. */
    public long requests(String type) {
        return requests.getOrDefault(type, 0L);
    }
}
