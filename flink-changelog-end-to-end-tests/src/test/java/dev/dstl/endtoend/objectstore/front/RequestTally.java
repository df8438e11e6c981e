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

package dev.dstl.endtoend.objectstore.front;

import dev.dstl.benchmarks.simulated.store.RequestType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Requests in order. Immutable. */
public final class RequestTally {

    private final List<SeenRequest> requests;

    RequestTally(List<SeenRequest> requests) {
        this.requests = new ArrayList<>(requests);
    }

    /** Requests whose key begins with {@code prefix}. */
    public RequestTally below(String prefix) {
        return where(request -> request.key().startsWith(prefix));
    }

    /** Requests whose key does not begin with {@code prefix}. */
    public RequestTally notBelow(String prefix) {
        return where(request -> !request.key().startsWith(prefix));
    }

    private RequestTally where(Predicate<SeenRequest> condition) {
        return new RequestTally(requests.stream().filter(condition).collect(Collectors.toList()));
    }

    public long count(RequestType type) {
        return requests.stream().filter(request -> request.type() == type).count();
    }

    /** Keys of the requests of a type, one per request. */
    public List<String> keys(RequestType type) {
        return requests.stream()
                .filter(request -> request.type() == type)
                .map(SeenRequest::key)
                .collect(Collectors.toList());
    }

    @Override
    public String toString() {
        return Arrays.stream(RequestType.values())
                .map(type -> type + " " + count(type))
                .collect(Collectors.joining(", "));
    }
}
