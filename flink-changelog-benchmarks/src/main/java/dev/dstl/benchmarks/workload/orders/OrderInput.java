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

import dev.dstl.benchmarks.source.StripedInput;
import io.trino.tpch.Distributions;
import io.trino.tpch.GenerateUtils;
import io.trino.tpch.LineItem;
import io.trino.tpch.LineItemGenerator;
import io.trino.tpch.Order;
import io.trino.tpch.OrderGenerator;
import io.trino.tpch.TextPool;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import javax.annotation.Nullable;

/**
 * TPC-H orders and line items as a stream. Orders are placed in blocks; the odd line items of a
 * block follow one lag later, the even ones two lags later, so a fixed share of all orders is open
 * at any time. An order may carry a document of random bytes, so that few orders hold much state.
 *
 * <pre>
 *   stripe s = orders of block s, odd line items of block s - lag, even ones of block s - 2 lag
 *   event time of stripe s in [1000 s, 1000 (s + 1));  block b closes at 1000 (b + 2 lag + 1)
 * </pre>
 */
public final class OrderInput implements StripedInput<OrderEvent> {

    private static final long serialVersionUID = 1L;
    private static final int ORDERS_PER_BLOCK = 256;
    private static final long STRIPE_MILLIS = 1000;
    private static final double OPEN_SHARE = 0.2;

    /**
     * Most orders are open before the first one closes, so state is large during most of the input.
     */
    private static final double LARGE_OPEN_SHARE = 0.8;

    /** Comments are not read, so the 300 MB of text from which they are cut need not exist. */
    private static final int TEXT_POOL_BYTES = 64 * 1024;

    private final double scale;
    private final int blocks;
    private final int lag;
    private final int documentBytes;
    private transient TextPool text;

    /**
     * Creates an input whose orders carry no documents.
     *
     * @param scale TPC-H scale factor; 1 is 1.5 million orders and 6 million line items
     */
    public OrderInput(double scale) {
        this(scale, OPEN_SHARE, 0);
    }

    /**
     * Creates an input with documents of a given total size.
     *
     * @param scale TPC-H scale factor
     * @param openBytes total size of the documents of all orders that are open at a time
     */
    public OrderInput(double scale, long openBytes) {
        this(scale, LARGE_OPEN_SHARE, openBytes);
    }

    private OrderInput(double scale, double openShare, long openBytes) {
        this.scale = scale;
        long orders = GenerateUtils.calculateRowCount(OrderGenerator.SCALE_BASE, scale, 1, 1);
        this.blocks = Math.toIntExact(Math.max(1, orders / ORDERS_PER_BLOCK));
        this.lag = Math.max(1, (int) (blocks * openShare / 2));
        long open = Math.max(1, 2L * lag * orders / blocks);
        this.documentBytes = (int) Math.min(Integer.MAX_VALUE, openBytes / open);
    }

    /** Returns the size of each order's document in bytes. */
    public int documentBytes() {
        return documentBytes;
    }

    /**
     * Returns the fraction of the input before the first order closes, in which state only grows.
     */
    public double growsUntil() {
        return 2.0 * lag / stripeCount();
    }

    /**
     * Returns the fraction of the input after which no order is placed, so that state only shrinks.
     */
    public double shrinksFrom() {
        return (double) blocks / stripeCount();
    }

    @Override
    public long stripeCount() {
        return blocks + 2L * lag;
    }

    @Override
    public List<OrderEvent> read(long stripe) {
        List<OrderEvent> events = new ArrayList<>(5 * ORDERS_PER_BLOCK);
        if (isBlock(stripe)) {
            for (Order order : orders((int) stripe)) {
                events.add(placed(order, closesAtMillis(stripe)));
            }
        }
        addLineItems(events, stripe - lag, 1);
        addLineItems(events, stripe - 2L * lag, 0);
        // Orders and line items alternate; ties keep the order of the generators.
        events.sort(Comparator.comparingLong(event -> event.orderKey % ORDERS_PER_BLOCK));
        long size = Math.max(1, events.size());
        for (int i = 0; i < events.size(); i++) {
            events.get(i).timeMillis = STRIPE_MILLIS * stripe + STRIPE_MILLIS * i / size;
        }
        return Collections.unmodifiableList(events);
    }

    @Override
    public long eventTimeMillis(OrderEvent event) {
        return event.timeMillis;
    }

    private void addLineItems(List<OrderEvent> events, long block, int parity) {
        if (!isBlock(block)) {
            return;
        }
        for (LineItem item : lineItems((int) block)) {
            if (item.getLineNumber() % 2 == parity) {
                events.add(shipped(item, closesAtMillis(block)));
            }
        }
    }

    private OrderEvent placed(Order order, long closesAtMillis) {
        OrderEvent event = new OrderEvent();
        event.orderKey = order.getOrderKey();
        event.customerKey = order.getCustomerKey();
        event.cents = order.getTotalPriceInCents();
        event.document = document(order.getOrderKey());
        event.closesAtMillis = closesAtMillis;
        return event;
    }

    private static OrderEvent shipped(LineItem item, long closesAtMillis) {
        OrderEvent event = new OrderEvent();
        event.orderKey = item.getOrderKey();
        event.lineNumber = item.getLineNumber();
        event.cents = item.getExtendedPriceInCents();
        event.quantity = item.getQuantity();
        event.closesAtMillis = closesAtMillis;
        return event;
    }

    /** Returns the first bytes of the JDK's {@link SplittableRandom} with the order key as seed. */
    @Nullable
    private byte[] document(long orderKey) {
        if (documentBytes == 0) {
            return null;
        }
        byte[] document = new byte[documentBytes];
        new SplittableRandom(orderKey).nextBytes(document);
        return document;
    }

    private boolean isBlock(long block) {
        return block >= 0 && block < blocks;
    }

    private long closesAtMillis(long block) {
        return STRIPE_MILLIS * (block + 2L * lag + 1);
    }

    private OrderGenerator orders(int block) {
        return new OrderGenerator(scale, block + 1, blocks, distributions(), text());
    }

    private LineItemGenerator lineItems(int block) {
        return new LineItemGenerator(scale, block + 1, blocks, distributions(), text());
    }

    private static Distributions distributions() {
        return Distributions.getDefaultDistributions();
    }

    private TextPool text() {
        if (text == null) {
            text = new TextPool(TEXT_POOL_BYTES, distributions());
        }
        return text;
    }
}
