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

import static org.assertj.core.api.Assertions.assertThat;

import io.trino.tpch.LineItem;
import io.trino.tpch.LineItemGenerator;
import io.trino.tpch.Order;
import io.trino.tpch.OrderGenerator;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OrderInputTest {

    private static final double SCALE = 0.002;

    private final OrderInput input = new OrderInput(SCALE);

    @Test
    void stripesTogether_areTheTwoTables() {
        List<String> expected = new ArrayList<>();
        for (Order order : new OrderGenerator(SCALE, 1, 1)) {
            expected.add(order.getOrderKey() + " 0 " + order.getTotalPriceInCents());
        }
        for (LineItem item : new LineItemGenerator(SCALE, 1, 1)) {
            expected.add(
                    item.getOrderKey()
                            + " "
                            + item.getLineNumber()
                            + " "
                            + item.getExtendedPriceInCents());
        }

        assertThat(events().stream().map(e -> e.orderKey + " " + e.lineNumber + " " + e.cents))
                .containsExactlyInAnyOrderElementsOf(expected);
    }

    @Test
    void eventTime_neverGoesBack_andNothingComesAfterItsOrderCloses() {
        long last = 0;
        for (OrderEvent event : events()) {
            assertThat(event.timeMillis)
                    .isGreaterThanOrEqualTo(last)
                    .isLessThan(event.closesAtMillis);
            last = event.timeMillis;
        }
    }

    @Test
    void stripeReadAgain_isTheSame() {
        assertThat(new OrderInput(SCALE).read(3))
                .usingRecursiveComparison()
                .isEqualTo(input.read(3));
    }

    @Test
    void documentsOfTheOrdersThatAreOpen_addUpToTheGivenSize() {
        OrderInput large = new OrderInput(SCALE, 1_000_000);
        long open = 0;
        long largest = 0;
        for (long stripe = 0; stripe < large.stripeCount(); stripe++) {
            long stripeEndsAt = 1000 * (stripe + 1);
            for (OrderEvent event : large.read(stripe)) {
                open += event.document == null ? 0 : event.document.length;
            }
            if (stripe < Math.round(large.growsUntil() * large.stripeCount())) {
                assertThat(large.read(stripe))
                        .allMatch(event -> event.closesAtMillis > stripeEndsAt);
                largest = open;
            }
        }

        assertThat(largest).isBetween(900_000L, 1_000_000L);
        assertThat(large.shrinksFrom()).isBetween(large.growsUntil(), 1.0);
        assertThat(large.read(0).get(0).document).hasSize(large.documentBytes());
        assertThat(input.read(0).get(0).document).isNull();
    }

    private List<OrderEvent> events() {
        List<OrderEvent> all = new ArrayList<>();
        for (long stripe = 0; stripe < input.stripeCount(); stripe++) {
            all.addAll(input.read(stripe));
        }
        return all;
    }
}
