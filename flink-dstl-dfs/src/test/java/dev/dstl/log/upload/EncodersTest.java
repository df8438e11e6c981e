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

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.api.TestRecord;
import dev.dstl.log.batch.LogBatch;
import dev.dstl.log.batch.TestBatches;
import dev.dstl.log.memory.IdleObjects;
import dev.dstl.log.memory.ProcessMemory;
import dev.dstl.log.segment.EncodedSegment;
import dev.dstl.log.segment.SegmentCodec;
import dev.dstl.log.segment.SegmentEncoder;
import dev.dstl.log.testing.ManualTimers;
import java.util.List;
import org.junit.jupiter.api.Test;

class EncodersTest {

    @Test
    void encoderThatCannotBeKept_doesNotFailWhatItHasEncoded() {
        IdleObjects<SegmentEncoder> idle =
                new IdleObjects<>(
                        1,
                        encoder -> {
                            throw new OutOfMemoryError("Java heap space");
                        },
                        new ProcessMemory());
        Encoders encoders =
                new Encoders(SegmentCodec.NONE, Runnable::run, new ManualTimers(), idle);
        LogBatch batch = TestBatches.batch(0, List.of(TestRecord.opaque(1, "a")));

        EncodedSegment encoded =
                encoders.encodeHere(
                        encoder -> {
                            EncodedSegment segment = encoder.encode(List.of(batch));
                            batch.release();
                            return segment;
                        });

        assertThat(encoded.length()).isPositive();
    }
}
