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

package dev.dstl.log.simulation.store;

/** Observes every change in the store. */
public interface StoreWatcher {

    /** A client begins to write a file. */
    void created(String file, String client);

    /**
     * A write is over, or will never be.
     *
     * @param bytes that went to the store
     * @param faultless whether the store did what it should, and nothing stalled
     */
    void sent(String file, String client, long bytes, boolean faultless);

    /** A client learns that its write has succeeded. Called after {@link #sent}. */
    void answered(String file, String client);

    /** The file has been stored. */
    void stored(String file);

    /**
     * A client asked to delete a file.
     *
     * @param existed whether there was one
     * @param done whether there is none any more
     */
    void deleteRequested(String file, String client, boolean existed, boolean done);
}
