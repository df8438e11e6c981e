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

import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.api.common.JobID;
import org.apache.flink.core.fs.Path;

/**
 * The name of one attempt to write one segment. The name is globally unique, so that no check for
 * existence is needed, and a leftover file identifies its writer.
 *
 * <pre>
 *   base path / job id / dstl / incarnation            / sequence - attempt .seg
 *   s3://b/cl / 5f3e.. / dstl / 9c1f..a0-1763640000000 / 42       - 1       .seg
 * </pre>
 *
 * <p>The incarnation is one storage of one TaskManager: a random number and the milliseconds since
 * 1970 at which it was created. The sequence counts the segments of an incarnation from 1, 0 being
 * the file that tries the base path; the attempt counts the attempts to write one segment from 1.
 * Immutable.
 */
public final class SegmentName {

    /**
     * Number of directories between base path and file: of the job, of the changelog and of the
     * writer.
     */
    public static final int DIRECTORIES = 3;

    private static final String DIRECTORY = "dstl";

    /** Random part and creation time; in names of earlier snapshots of DSTL the other way round. */
    private static final String INCARNATION =
            "(?:[0-9a-f]{16}-([0-9]{13,15})|([0-9]{13,15})-[0-9a-f]{16})";

    private static final Pattern FILE =
            Pattern.compile(
                    ".*/([0-9a-f]{32})/"
                            + DIRECTORY
                            + "/("
                            + INCARNATION
                            + ")/([0-9]{1,18})-(0*[1-9][0-9]{0,8})\\.seg");

    private static final Pattern WRITER =
            Pattern.compile(".*/[0-9a-f]{32}/" + DIRECTORY + "/" + INCARNATION);

    private final JobID jobId;
    private final String incarnation;
    private final long sequence;
    private final int attempt;

    /**
     * Creates the name of an attempt.
     *
     * @param incarnation see {@link #incarnation(long, long)}
     * @param sequence number of the segment, not negative
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

    /**
     * Creates the name of an incarnation. The random part comes first: object stores partition the
     * names of a bucket by prefix, and writers are thus spread evenly over partitions.
     *
     * @param createdEpochMillis in [0, 10^15)
     */
    public static String incarnation(long createdEpochMillis, long random) {
        return String.format(Locale.ROOT, "%016x-%013d", random, createdEpochMillis);
    }

    /** Returns the directory of all files of an incarnation. */
    public static Path directory(Path basePath, JobID jobId, String incarnation) {
        return new Path(basePath, jobId.toHexString() + "/" + DIRECTORY + "/" + incarnation);
    }

    /**
     * Returns when the writer of a directory was created, or empty if it is not the {@link
     * #directory} of a writer.
     *
     * @return milliseconds since the epoch
     */
    public static OptionalLong createdEpochMillis(Path directory) {
        Matcher matcher = WRITER.matcher(directory.toUri().getPath());
        if (!matcher.matches()) {
            return OptionalLong.empty();
        }
        String created = matcher.group(1) == null ? matcher.group(2) : matcher.group(1);
        return OptionalLong.of(Long.parseLong(created));
    }

    /** Parses the name of a file; empty if it is not named by DSTL. */
    public static Optional<SegmentName> of(Path file) {
        Matcher matcher = FILE.matcher(file.toUri().getPath());
        if (!matcher.matches()) {
            return Optional.empty();
        }
        return Optional.of(
                new SegmentName(
                        JobID.fromHexString(matcher.group(1)),
                        matcher.group(2),
                        Long.parseLong(matcher.group(5)),
                        Integer.parseInt(matcher.group(6))));
    }

    /** Returns the job that wrote the segment. */
    public JobID jobId() {
        return jobId;
    }

    /** Returns the number of the attempt, from 1. */
    public int attempt() {
        return attempt;
    }

    /** Returns the file of this name. */
    public Path below(Path basePath) {
        return new Path(directory(basePath, jobId, incarnation), sequence + "-" + attempt + ".seg");
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
        return String.format("%s/%s/%d-%d", jobId, incarnation, sequence, attempt);
    }
}
