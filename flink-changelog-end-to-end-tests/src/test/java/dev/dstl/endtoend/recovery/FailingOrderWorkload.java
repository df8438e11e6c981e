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

package dev.dstl.endtoend.recovery;

import dev.dstl.benchmarks.progress.ProgressBoard;
import dev.dstl.benchmarks.source.StripedInput;
import dev.dstl.benchmarks.workload.orders.ClosedOrder;
import dev.dstl.benchmarks.workload.orders.OrderAssembly;
import dev.dstl.benchmarks.workload.orders.OrderEvent;
import dev.dstl.benchmarks.workload.orders.OrderWorkload;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.util.Collector;

/** The order workload with a keyed task that fails a given number of times. */
final class FailingOrderWorkload extends OrderWorkload {

    private final Path fuse;

    FailingOrderWorkload(StripedInput<OrderEvent> input, Path fuse) {
        super(input);
        this.fuse = fuse;
    }

    /** Makes a keyed task fail at its next record. */
    void failOnce() throws IOException {
        Files.createFile(fuse);
    }

    /** Whether a task has failed since {@link #failOnce()}. */
    boolean hasFailed() {
        return !Files.exists(fuse);
    }

    @Override
    protected OrderAssembly assembly(ProgressBoard board) {
        return new FailingAssembly(board, fuse.toFile());
    }

    private static final class FailingAssembly extends OrderAssembly {

        private static final long serialVersionUID = 1L;

        private final File fuse;

        private FailingAssembly(ProgressBoard board, File fuse) {
            super(board);
            this.fuse = fuse;
        }

        @Override
        public void processElement(OrderEvent event, Context context, Collector<ClosedOrder> out)
                throws Exception {
            // Both the state's change and the failure: the change must not survive.
            super.processElement(event, context, out);
            if (fuse.exists() && Files.deleteIfExists(fuse.toPath())) {
                throw new IllegalStateException("A task fails because the test wants it to");
            }
        }
    }
}
