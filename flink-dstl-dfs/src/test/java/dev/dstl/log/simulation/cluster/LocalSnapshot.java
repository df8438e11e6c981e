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

package dev.dstl.log.simulation.cluster;

import java.io.File;
import java.util.List;
import javax.annotation.Nullable;

/** A local snapshot from which a process could restore a task without the store. Immutable. */
public final class LocalSnapshot {

    private final SimulatedTaskManager taskManager;
    private final SimulatedLog log;
    private final List<LogHandle> parts;

    LocalSnapshot(SimulatedTaskManager taskManager, SimulatedLog log, List<LogHandle> parts) {
        this.taskManager = taskManager;
        this.log = log;
        this.parts = parts;
    }

    boolean isOn(SimulatedTaskManager other) {
        return taskManager == other;
    }

    boolean isOf(SimulatedLog other) {
        return log == other;
    }

    List<LogHandle> parts() {
        return parts;
    }

    /** Whether anything is on the local disk; inline changes are not. */
    boolean hasFiles() {
        return parts.stream().anyMatch(part -> !part.localFiles().isEmpty());
    }

    /**
     * A copy that is gone although nobody damaged the disk and its changelog is open; null if none
     * is.
     */
    @Nullable
    public String missing() {
        if (!taskManager.isAlive() || log.isClosed() || taskManager.host().isDamaged()) {
            return null;
        }
        for (LogHandle part : parts) {
            for (String file : part.localFiles()) {
                if (!new File(file).exists()) {
                    return file + " of " + log.incarnation();
                }
            }
        }
        return null;
    }
}
