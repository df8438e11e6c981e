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

package dev.dstl.log.store;

import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.api.common.JobID;
import org.apache.flink.core.fs.Path;

/**
 * The name of one attempt to write one segment. Nobody else ever writes a file of this name, so
 * that writing needs no check for existence, and a leftover tells whose it is.
 *
 * <pre>
 *   base path / job id / dstl / incarnation            / sequence   - attempt .seg
 *   s3://b/cl / 5f3e.. / dstl / 1763640000000-9c1f..a0 / 0000000042 - 1       .seg
 * </pre>
 *
 * <p>The incarnation is one storage of one TaskManager: the milliseconds since 1970 at which it was
 * created and a random number. The sequence counts the segments of an incarnation from 1, 0 being
 * the file that tries the base path; the attempt counts the attempts to write one segment from 1.
 * Immutable.
 */
public final class SegmentName {

    /** Directories between the base path and a file: the job's, the log's and the writer's. */
    public static final int DIRECTORIES = 3;

    private static final String DIRECTORY = "dstl";
    private static final Pattern FILE =
            Pattern.compile(
                    ".*/([0-9a-f]{32})/"
                            + DIRECTORY
                            + "/([0-9]{13,}-[0-9a-f]{16})/([0-9]{10,18})-([0-9]{1,9})\\.seg");

    private static final Pattern WRITER =
            Pattern.compile(".*/[0-9a-f]{32}/" + DIRECTORY + "/([0-9]{13,18})-[0-9a-f]{16}");

    private final JobID jobId;
    private final String incarnation;
    private final long sequence;
    private final int attempt;

    /**
     * Names an attempt.
     *
     * @param incarnation see {@link #incarnation(long, long)}
     * @param sequence not negative
     * @param attempt at least 1
     */
    public SegmentName(JobID jobId, String incarnation, long sequence, int attempt) {
        if (sequence < 0 || attempt < 1) {
            throw new IllegalArgumentException(
                    "Sequence must be >= 0 and attempt >= 1, found " + sequence + ", " + attempt);
        }
        this.jobId = jobId;
        this.incarnation = incarnation;
        this.sequence = sequence;
        this.attempt = attempt;
    }

    /** Names an incarnation; ordered by time of creation. */
    public static String incarnation(long createdEpochMillis, long random) {
        return String.format("%013d-%016x", createdEpochMillis, random);
    }

    /** The directory of everything that an incarnation writes. */
    public static Path directory(Path basePath, JobID jobId, String incarnation) {
        return new Path(basePath, jobId.toHexString() + "/" + DIRECTORY + "/" + incarnation);
    }

    /**
     * When the writer of a directory began, or nothing if it is not a {@link #directory} of one.
     *
     * @return milliseconds since the epoch
     */
    public static OptionalLong createdEpochMillis(Path directory) {
        Matcher matcher = WRITER.matcher(directory.toUri().getPath());
        return matcher.matches()
                ? OptionalLong.of(Long.parseLong(matcher.group(1)))
                : OptionalLong.empty();
    }

    /** The name that a file has, or nothing if the file is not one of ours. */
    public static Optional<SegmentName> of(Path file) {
        Matcher matcher = FILE.matcher(file.toUri().getPath());
        if (!matcher.matches()) {
            return Optional.empty();
        }
        return Optional.of(
                new SegmentName(
                        JobID.fromHexString(matcher.group(1)),
                        matcher.group(2),
                        Long.parseLong(matcher.group(3)),
                        Integer.parseInt(matcher.group(4))));
    }

    /** Which attempt it is, from 1. */
    public int attempt() {
        return attempt;
    }

    /** The file of this name. */
    public Path below(Path basePath) {
        return new Path(
                directory(basePath, jobId, incarnation),
                String.format("%010d-%d.seg", sequence, attempt));
    }

    @Override
    public boolean equals(Object other) {
        if (!(other instanceof SegmentName)) {
            return false;
        }
        SegmentName that = (SegmentName) other;
        return jobId.equals(that.jobId)
                && incarnation.equals(that.incarnation)
                && sequence == that.sequence
                && attempt == that.attempt;
    }

    @Override
    public int hashCode() {
        return Objects.hash(jobId, incarnation, sequence, attempt);
    }

    @Override
    public String toString() {
        return String.format("%s/%s/%010d-%d", jobId, incarnation, sequence, attempt);
    }
}
