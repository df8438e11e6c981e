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

package dev.dstl.changelog.config;

import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.runtime.throwable.ThrowableAnnotation;
import org.apache.flink.runtime.throwable.ThrowableType;

/**
 * A deployment that cannot work. The message is one sentence with key, value and fix. Flink does
 * not restart the job, since the next attempt would fail as well.
 *
 * <p>It has no cause: if the JobManager lacks the class of a cause, as with those of file system
 * plugins, Flink cannot recognize this exception.
 */
@ThrowableAnnotation(ThrowableType.NonRecoverableError)
public final class MisconfigurationException extends IllegalConfigurationException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message a whole sentence with key, value and fix
     */
    public MisconfigurationException(String message) {
        super(message);
    }

    /**
     * Returns an equivalent exception that lets the job restart, for a job with checkpoints: Flink
     * deletes the checkpoints of a job that fails for good, and a misconfigured machine can be
     * corrected or replaced.
     */
    public IllegalConfigurationException butRestartable() {
        return new IllegalConfigurationException(
                getMessage()
                        + " The job may have checkpoints and is therefore restarted until this is"
                        + " corrected, as far as its restart strategy allows.");
    }
}
