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

/** One request that the front received. Immutable. */
public final class SeenRequest {

    private final RequestType type;
    private final String key;
    private final String line;

    private SeenRequest(RequestType type, String key, String line) {
        this.type = type;
        this.key = key;
        this.line = line;
    }

    /**
     * Sorts a request by what S3 bills it as.
     *
     * @param method of HTTP
     * @param target path with the bucket first, and the query
     */
    static SeenRequest of(String method, String target) {
        int question = target.indexOf('?');
        String path = question < 0 ? target : target.substring(0, question);
        String query = question < 0 ? "" : target.substring(question + 1);
        int slash = path.indexOf('/', 1);
        String key = slash < 0 ? "" : path.substring(slash + 1);
        String line = method + " " + target;
        switch (method) {
            case "PUT":
                return new SeenRequest(RequestType.PUT, key, line);
            case "POST":
                // Begin and end of a multipart upload; the only other one removes many objects.
                return new SeenRequest(
                        query.startsWith("delete") ? RequestType.DELETE : RequestType.PUT,
                        key,
                        line);
            case "GET":
                return key.isEmpty()
                        ? new SeenRequest(RequestType.LIST, prefix(query), line)
                        : new SeenRequest(RequestType.GET, key, line);
            case "HEAD":
                return new SeenRequest(RequestType.HEAD, key, line);
            case "DELETE":
                return new SeenRequest(RequestType.DELETE, key, line);
            default:
                throw new IllegalArgumentException("No request of S3: " + line);
        }
    }

    private static String prefix(String query) {
        for (String part : query.split("&", -1)) {
            if (part.startsWith("prefix=")) {
                return part.substring("prefix=".length()).replace("%2F", "/");
            }
        }
        return "";
    }

    public RequestType type() {
        return type;
    }

    /** Key of the object; the prefix for a LIST. */
    public String key() {
        return key;
    }

    @Override
    public String toString() {
        return line;
    }
}
