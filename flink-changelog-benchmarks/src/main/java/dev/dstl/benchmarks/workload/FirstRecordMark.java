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

package dev.dstl.benchmarks.workload;

import dev.dstl.benchmarks.progress.ProgressBoard;
import dev.dstl.benchmarks.progress.ProgressSlot;
import java.io.IOException;
import java.io.Serializable;
import org.apache.flink.api.common.functions.RuntimeContext;

/**
 * Reports to the progress board when a keyed task received the first record of its attempt. Used by
 * the task thread.
 */
public final class FirstRecordMark implements Serializable {

    private static final long serialVersionUID = 1L;

    private final ProgressBoard board;
    private transient ProgressSlot slot;
    private transient boolean marked;

    /** Creates a mark that reports to {@code board}. */
    public FirstRecordMark(ProgressBoard board) {
        this.board = board;
    }

    /** Starts an attempt, after its state was restored. */
    public void open(RuntimeContext context) throws IOException {
        slot = board.keyed(context.getTaskInfo().getIndexOfThisSubtask());
        marked = false;
    }

    /** Reports a record. */
    public void record() {
        if (!marked) {
            marked = true;
            slot.firstRecord();
        }
    }
}
