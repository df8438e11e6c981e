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
import dev.dstl.log.segment.EncodedSegment;
import dev.dstl.log.segment.SegmentCodec;
import dev.dstl.log.segment.SegmentEncoder;
import dev.dstl.log.segment.TestSegments;
import dev.dstl.log.testing.LinkedStore.Fate;
import java.io.IOException;
import java.util.List;
import org.apache.flink.core.fs.Path;
import org.junit.jupiter.api.Test;

class ProbeFaultTest {

    @Test
    void probeWhoseSuccessCannotBeReported_isNotTheLastOne() {
        try (LinkedTaskManagers cluster = new LinkedTaskManagers(1, 1_000_000_000)) {
            cluster.link.answerAfter(() -> 30);
            cluster.store.decide(name -> name.attempt() == 1 ? Fate.HANGS : Fate.SENT);
            cluster.uploaders.get(0).upload(new UnreportedSegment()).ensureRunning();
            cluster.timers.advanceMillis(60_000);

            LinkedTaskManagers.Checkpoint later = cluster.checkpoint(1_000);
            cluster.timers.advanceMillis(60_000);

            assertThat(later.isComplete()).isTrue();
        }
    }

    private static final class UnreportedSegment implements SegmentSource {

        @Override
        public EncodedSegment encode(SegmentEncoder encoder) {
            return TestSegments.encode(SegmentCodec.NONE, List.of(TestRecord.opaque(1, "a")));
        }

        @Override
        public void discard() {}

        @Override
        public Runnable durableAs(Path file, EncodedSegment segment) {
            return () -> {
                throw new IllegalStateException("As the test wants it");
            };
        }

        @Override
        public void suspended(IOException cause) {}
    }
}
