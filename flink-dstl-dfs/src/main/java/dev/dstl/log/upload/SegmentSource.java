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

package dev.dstl.log.upload;

import dev.dstl.log.segment.EncodedSegment;
import dev.dstl.log.segment.SegmentEncoder;
import java.io.IOException;
import org.apache.flink.core.fs.Path;

/**
 * The batches of a segment, and those who wait for it. Called on upload threads unless said
 * otherwise; must not block.
 */
public interface SegmentSource {

    /**
     * Encodes the batches and releases them. Not called again after it has returned normally; never
     * called concurrently.
     */
    EncodedSegment encode(SegmentEncoder encoder);

    /**
     * Releases the batches. Called instead of {@link #encode} if the segment is no longer needed,
     * on any thread.
     */
    void discard();

    /**
     * Prepares the report that the segment is durable. If that fails, the attempt has failed, and
     * this is called again after the next one.
     *
     * @param file the file that contains the segment
     * @return reports that it is durable; run at most once, and nothing is called after it
     */
    Runnable durableAs(Path file, EncodedSegment segment);

    /**
     * Reports that the upload is suspended. The data is retained.
     *
     * @param cause the last failure, shown to users
     */
    void suspended(IOException cause);
}
