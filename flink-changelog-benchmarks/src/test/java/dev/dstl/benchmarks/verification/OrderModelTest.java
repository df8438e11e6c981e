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

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.SplittableRandom;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;

class OrderModelTest {

    private final Map<String, String> rows = new OrderModel(0.001).expectedRows();

    @Test
    void firstOrderOfTpch_isAsTheBenchmarkDefinesIt() {
        // Order 1 of scale 0.001: customer 37, total price 131251.81, six line items.
        assertThat(rows.get("order 1")).startsWith("customer=37 price=13125181 lines=6 ");
    }

    @Test
    void allOrdersAndTheirCustomersAreThere() {
        assertThat(rows.keySet().stream().filter(key -> key.startsWith("order "))).hasSize(1500);
        assertThat(
                        rows.entrySet().stream()
                                .filter(row -> row.getKey().startsWith("customer "))
                                .mapToInt(row -> ordersOf(row.getValue()))
                                .sum())
                .isEqualTo(1500);
    }

    @Test
    void document_isWhatTheGeneratorOfTheJdkGivesForTheOrderKey() {
        byte[] document = new byte[100];
        new SplittableRandom(1).nextBytes(document);
        CRC32 crc = new CRC32();
        crc.update(document);

        assertThat(new OrderModel(0.001, 100).expectedRows().get("order 1"))
                .endsWith(" document=" + Long.toHexString(crc.getValue()));
        assertThat(rows.get("order 1")).endsWith(" document=0");
    }

    private static int ordersOf(String value) {
        return Integer.parseInt(value.substring("orders=".length(), value.indexOf(' ')));
    }
}
