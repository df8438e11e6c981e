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

package dev.dstl.benchmarks.workload.orders;

/** State of a line item of an open order. A Flink POJO. */
public final class OrderLine {

    /** Price of the line. */
    public long cents;

    /** Quantity of the line. */
    public long quantity;

    /** For Flink. */
    public OrderLine() {}

    OrderLine(long cents, long quantity) {
        this.cents = cents;
        this.quantity = quantity;
    }
}
