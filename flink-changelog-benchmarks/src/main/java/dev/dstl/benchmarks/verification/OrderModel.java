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

package dev.dstl.benchmarks.verification;

import io.trino.tpch.Distributions;
import io.trino.tpch.LineItem;
import io.trino.tpch.LineItemGenerator;
import io.trino.tpch.Order;
import io.trino.tpch.OrderGenerator;
import io.trino.tpch.TextPool;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.zip.CRC32;

/**
 * The rows of the TPC-H workload, from the two tables read once from beginning to end: orders by
 * key first, then each line item to its order, then orders to customers.
 */
public final class OrderModel implements ResultModel {

    /**
     * No row contains a comment; the default text from which they are cut takes 300 MB and seconds.
     */
    private static final int COMMENT_BYTES = 64 * 1024;

    private final double scale;
    private final int documentBytes;

    /** Creates a model with a TPC-H scale factor, without documents. */
    public OrderModel(double scale) {
        this(scale, 0);
    }

    /**
     * Creates a model with a TPC-H scale factor and documents.
     *
     * @param documentBytes size of each order's document, which consists of bytes of a {@link
     *     SplittableRandom} whose seed is the order key
     */
    public OrderModel(double scale, int documentBytes) {
        this.scale = scale;
        this.documentBytes = documentBytes;
    }

    @Override
    public Map<String, String> expectedRows() {
        Distributions words = Distributions.getDefaultDistributions();
        TextPool comments = new TextPool(COMMENT_BYTES, words);
        Map<Long, OrderSum> orders = new HashMap<>();
        for (Order order : new OrderGenerator(scale, 1, 1, words, comments)) {
            orders.put(order.getOrderKey(), new OrderSum(order, documentBytes));
        }
        for (LineItem item : new LineItemGenerator(scale, 1, 1, words, comments)) {
            orders.get(item.getOrderKey()).add(item);
        }
        Map<Long, CustomerSum> customers = new HashMap<>();
        Map<String, String> rows = new HashMap<>();
        new TreeMap<>(orders)
                .forEach(
                        (key, order) -> {
                            rows.put("order " + key, order.value());
                            customers
                                    .computeIfAbsent(order.customer, none -> new CustomerSum())
                                    .add(key, order);
                        });
        customers.forEach((key, customer) -> rows.put("customer " + key, customer.value()));
        return rows;
    }

    private static final class OrderSum {
        private final long customer;
        private final long price;
        private final long document;
        private int lines;
        private long linePrices;
        private long quantity;

        private OrderSum(Order order, int documentBytes) {
            this.customer = order.getCustomerKey();
            this.price = order.getTotalPriceInCents();
            byte[] bytes = new byte[documentBytes];
            new SplittableRandom(order.getOrderKey()).nextBytes(bytes);
            CRC32 crc = new CRC32();
            crc.update(bytes);
            this.document = crc.getValue();
        }

        private void add(LineItem item) {
            lines++;
            linePrices += item.getExtendedPriceInCents();
            quantity += item.getQuantity();
        }

        private String value() {
            return String.format(
                    Locale.ROOT,
                    "customer=%d price=%d lines=%d lineprices=%d quantity=%d repeats=0"
                            + " document=%x",
                    customer,
                    price,
                    lines,
                    linePrices,
                    quantity,
                    document);
        }
    }

    /** Orders are added in ascending order of their keys. */
    private static final class CustomerSum {
        private final CRC32 keys = new CRC32();
        private int orders;
        private long lines;
        private long quantity;
        private long largest;
        private long spent;

        private void add(long orderKey, OrderSum order) {
            orders++;
            lines += order.lines;
            quantity += order.quantity;
            largest = Math.max(largest, order.price);
            spent += order.linePrices;
            keys.update((orderKey + ",").getBytes(StandardCharsets.UTF_8));
        }

        private String value() {
            return String.format(
                    Locale.ROOT,
                    "orders=%d lines=%d quantity=%d largest=%d spent=%d keys=%x",
                    orders,
                    lines,
                    quantity,
                    largest,
                    spent,
                    keys.getValue());
        }
    }
}
