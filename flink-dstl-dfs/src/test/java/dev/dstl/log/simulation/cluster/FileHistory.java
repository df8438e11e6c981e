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

/** The history of one segment file, as known to an all-seeing observer. */
public final class FileHistory {

    private final String writer;
    private final SimulatedJob job;
    private int creations;
    private boolean handedOver;
    private boolean deletedByWriter;
    private int refusals;
    private int deletions;

    /** Epoch of the latest JobManager that knows the file. */
    private int jobManagerEpoch = -1;

    FileHistory(String writer, SimulatedJob job) {
        this.writer = writer;
        this.job = job;
    }

    /** Part of the name that all attempts for a segment share. */
    public static String segmentOf(String file) {
        return file.substring(0, file.lastIndexOf('-'));
    }

    void created() {
        creations++;
    }

    void wasHandedOver() {
        handedOver = true;
    }

    void received(int epoch) {
        jobManagerEpoch = epoch;
    }

    void deleteRequested(boolean byWriter, boolean done) {
        deletions += byWriter ? 1 : 0;
        refusals = done ? 0 : refusals + 1;
        deletedByWriter |= done && byWriter;
    }

    /** The incarnation of the changelog that wrote it. */
    public String writer() {
        return writer;
    }

    public int creations() {
        return creations;
    }

    /** Whether a checkpoint received a handle with the file. */
    public boolean isHandedOver() {
        return handedOver;
    }

    public boolean isDeletedByWriter() {
        return deletedByWriter;
    }

    /** Number of times that its writer asked to delete it. */
    public int deletions() {
        return deletions;
    }

    /** Number of failed deletions since the last successful one. */
    public int refusals() {
        return refusals;
    }

    /** Whether the current JobManager knows the file. */
    public boolean isKnownToJobManager() {
        return jobManagerEpoch == job.jobManager().epoch();
    }
}
