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

/** An order with all that came for it until it was closed. A Flink POJO. */
public final class ClosedOrder {

    /** Key of the order. */
    public long orderKey;

    /** Key of its customer. */
    public long customerKey;

    /** The total price that the order itself states. */
    public long orderCents;

    /** Number of its lines. */
    public int lines;

    /** Sum of the prices of its lines. */
    public long lineCents;

    /** Sum of the quantities of its lines. */
    public long quantity;

    /** Number of events that came twice according to the state; 0 if all is well. */
    public int repeats;

    /** CRC-32 of the document that came with it; 0 if none did. */
    public long document;

    /** For Flink. */
    public ClosedOrder() {}

    String row() {
        return "order "
                + orderKey
                + "\tcustomer="
                + customerKey
                + " price="
                + orderCents
                + " lines="
                + lines
                + " lineprices="
                + lineCents
                + " quantity="
                + quantity
                + " repeats="
                + repeats
                + " document="
                + Long.toHexString(document);
    }
}
