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

package dev.dstl.changelog.differential.world;

import java.io.IOException;
import org.apache.flink.runtime.state.CompletedCheckpointStorageLocation;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * Location of a checkpoint of another job. Flink's JobManager deletes the directory of a claimed
 * checkpoint while it still contains shared files, and only logs that it is not empty.
 */
final class ClaimedLocation implements CompletedCheckpointStorageLocation {

    private static final long serialVersionUID = 1L;

    private final CompletedCheckpointStorageLocation location;

    ClaimedLocation(CompletedCheckpointStorageLocation location) {
        this.location = location;
    }

    @Override
    public String getExternalPointer() {
        return location.getExternalPointer();
    }

    @Override
    public StreamStateHandle getMetadataHandle() {
        return location.getMetadataHandle();
    }

    @Override
    public void disposeStorageLocation() throws IOException {
        try {
            location.disposeStorageLocation();
        } catch (IOException e) {
            if (!e.getMessage().endsWith("is not empty")) {
                throw e;
            }
        }
    }
}
