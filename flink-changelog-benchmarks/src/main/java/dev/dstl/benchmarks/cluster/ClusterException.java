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

package dev.dstl.benchmarks.cluster;

/** The cluster did not do what was requested. The message says what, and where the logs are. */
public final class ClusterException extends Exception {

    private static final long serialVersionUID = 1L;

    /** Creates an exception with a message for readers of the report. */
    public ClusterException(String message) {
        super(message);
    }

    /** Creates an exception with a message and a cause. */
    public ClusterException(String message, Throwable cause) {
        super(message, cause);
    }
}
