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

package dev.dstl.benchmarks.demo;

import dev.dstl.benchmarks.verification.OrderModel;
import dev.dstl.benchmarks.verification.ResultModel;
import dev.dstl.benchmarks.verification.TextModel;
import dev.dstl.benchmarks.workload.Workload;
import dev.dstl.benchmarks.workload.orders.OrderInput;
import dev.dstl.benchmarks.workload.orders.OrderWorkload;
import dev.dstl.benchmarks.workload.words.TextInput;
import dev.dstl.benchmarks.workload.words.WordWorkload;
import java.nio.file.Path;

/** A workload, and the independent computation of what it must give. Immutable. */
final class Scenario {

    /** How many windows of equal length a text is cut into. */
    private static final long WINDOWS = 20;

    private final String description;
    private final Workload workload;
    private final ResultModel model;

    private Scenario(String description, Workload workload, ResultModel model) {
        this.description = description;
        this.workload = workload;
        this.model = model;
    }

    static Scenario orders(double scale) {
        return new Scenario(
                "TPC-H orders and line items, scale " + scale,
                new OrderWorkload(new OrderInput(scale)),
                new OrderModel(scale));
    }

    static Scenario words(Path file, long sizeBytes) {
        long windowBytes = Math.max(1, (sizeBytes + WINDOWS - 1) / WINDOWS);
        return new Scenario(
                "the words of " + file,
                new WordWorkload(new TextInput(file, sizeBytes), windowBytes),
                new TextModel(file, windowBytes));
    }

    String description() {
        return description;
    }

    Workload workload() {
        return workload;
    }

    ResultModel model() {
        return model;
    }
}
