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

package dev.dstl.benchmarks.source;

import java.io.Serializable;
import org.apache.flink.api.connector.source.SourceSplit;

/**
 * Every n-th stripe of an input, and the position in it: the source's state in a checkpoint.
 * Immutable.
 */
final class StripeSplit implements SourceSplit, Serializable {

    private static final long serialVersionUID = 1L;

    private final int index;
    private final int stride;
    private final long stripe;
    private final int offset;
    private final long emitted;

    /**
     * Creates a split at a position.
     *
     * @param index first stripe of the split, in [0, stride)
     * @param stride number of splits
     * @param stripe next stripe to read
     * @param offset number of events of that stripe that were emitted
     * @param emitted number of events emitted since the start of the input
     */
    StripeSplit(int index, int stride, long stripe, int offset, long emitted) {
        this.index = index;
        this.stride = stride;
        this.stripe = stripe;
        this.offset = offset;
        this.emitted = emitted;
    }

    static StripeSplit atStart(int index, int stride) {
        return new StripeSplit(index, stride, index, 0, 0);
    }

    @Override
    public String splitId() {
        return index + "/" + stride;
    }

    int index() {
        return index;
    }

    int stride() {
        return stride;
    }

    long stripe() {
        return stripe;
    }

    int offset() {
        return offset;
    }

    long emitted() {
        return emitted;
    }
}
