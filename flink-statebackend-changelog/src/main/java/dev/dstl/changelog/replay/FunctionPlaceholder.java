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

package dev.dstl.changelog.replay;

import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.functions.ReduceFunction;

/**
 * Placeholder for a function of the job until the job registers the state. The changelog contains
 * results, so replay never calls it.
 *
 * @param <IN> type of what is added
 * @param <ACC> type of the accumulator
 * @param <OUT> type of the result
 */
final class FunctionPlaceholder<IN, ACC, OUT>
        implements AggregateFunction<IN, ACC, OUT>, ReduceFunction<ACC> {

    private static final long serialVersionUID = 1L;

    private final String stateName;

    FunctionPlaceholder(String stateName) {
        this.stateName = stateName;
    }

    @Override
    public ACC reduce(ACC left, ACC right) {
        throw unbound();
    }

    @Override
    public ACC createAccumulator() {
        throw unbound();
    }

    @Override
    public ACC add(IN value, ACC accumulator) {
        throw unbound();
    }

    @Override
    public OUT getResult(ACC accumulator) {
        throw unbound();
    }

    @Override
    public ACC merge(ACC left, ACC right) {
        throw unbound();
    }

    private IllegalStateException unbound() {
        return new IllegalStateException(
                "State '"
                        + stateName
                        + "' was restored but not registered: the job must ask for it through a"
                        + " descriptor with its function before it uses it");
    }
}
