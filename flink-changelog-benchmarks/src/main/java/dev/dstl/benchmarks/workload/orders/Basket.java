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

import org.apache.flink.api.common.functions.AggregateFunction;

/** Running totals over the closed orders of a customer. A Flink POJO. */
public final class Basket {

    /** Number of orders. */
    public long orders;

    /** Number of their lines. */
    public long lines;

    /** Sum of their quantities. */
    public long quantity;

    /** Price of the largest order. */
    public long largestCents;

    /** Used by Flink. */
    public Basket() {}

    /** Adds orders to a basket. */
    static final class Filling implements AggregateFunction<ClosedOrder, Basket, Basket> {

        private static final long serialVersionUID = 1L;

        @Override
        public Basket createAccumulator() {
            return new Basket();
        }

        @Override
        public Basket add(ClosedOrder order, Basket basket) {
            basket.orders++;
            basket.lines += order.lines;
            basket.quantity += order.quantity;
            basket.largestCents = Math.max(basket.largestCents, order.orderCents);
            return basket;
        }

        @Override
        public Basket getResult(Basket basket) {
            return basket;
        }

        @Override
        public Basket merge(Basket a, Basket b) {
            a.orders += b.orders;
            a.lines += b.lines;
            a.quantity += b.quantity;
            a.largestCents = Math.max(a.largestCents, b.largestCents);
            return a;
        }
    }
}
