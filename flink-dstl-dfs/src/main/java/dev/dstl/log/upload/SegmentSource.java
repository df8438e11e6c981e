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
 * What a segment is made of, and who waits for it. Called on upload threads, except where said
 * otherwise; no call may block.
 */
public interface SegmentSource {

    /**
     * Turns the batches into bytes and lets go of them. Not called again after it returned
     * normally, never by two threads at once.
     */
    EncodedSegment encode(SegmentEncoder encoder);

    /**
     * Lets go of the batches. Called instead of {@link #encode} if nobody needs the segment any
     * more, by whoever found that out.
     */
    void discard();

    /** The segment is durable. Called at most once, and then nothing else is. */
    void durable(Path file, EncodedSegment segment);

    /**
     * The upload rests until it is resumed; the data is kept.
     *
     * @param cause tells the user what happened
     */
    void parked(IOException cause);
}
