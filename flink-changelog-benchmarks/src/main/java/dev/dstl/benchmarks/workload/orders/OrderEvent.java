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

/** An order that is placed, or one of its line items. A Flink POJO, hence the open fields. */
public final class OrderEvent {

    /** Key of the order it belongs to. */
    public long orderKey;

    /** 0 for the order itself, else the number of the line item, from 1. */
    public int lineNumber;

    /** Key of the customer; in orders only. */
    public long customerKey;

    /** Total price of the order, or extended price of the line item. */
    public long cents;

    /** Quantity; in line items only. */
    public long quantity;

    /** Document of the order, stored until it closes; null if there is none. */
    public byte[] document;

    /** Event time, in milliseconds since the epoch. */
    public long timeMillis;

    /** Event time at which all line items of the order have arrived. */
    public long closesAtMillis;

    /** For Flink. */
    public OrderEvent() {}

    boolean isLineItem() {
        return lineNumber > 0;
    }
}
