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

package dev.dstl.log.testing;

import java.io.IOException;

/** An exception of a store's client that cannot be deserialized in another process. */
public final class ForeignException extends IOException {

    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // On purpose: as little use elsewhere as a plugin's class.
    private final Object client = new Object();

    public ForeignException(String message) {
        super(message);
    }

    /** Client that threw the exception. */
    public Object client() {
        return client;
    }
}
