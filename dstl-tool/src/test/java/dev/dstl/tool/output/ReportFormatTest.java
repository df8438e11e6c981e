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

package dev.dstl.tool.output;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;

class ReportFormatTest {

    @Test
    void aTable_isAsWideAsItsCells_withNumbersToTheRight() {
        String text = new Table("state", ">bytes").row("a", 1000).row("basket", 7).text();

        assertThat(text).isEqualTo("state   bytes\n" + "a        1000\n" + "basket      7\n");
    }

    @Test
    void aRowOfAnotherWidth_isRefused() {
        assertThatThrownBy(() -> new Table("one").row(1, 2))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void bytes_areReadable() {
        assertThat(ByteSize.text(0)).isEqualTo("0 B");
        assertThat(ByteSize.text(1023)).isEqualTo("1023 B");
        assertThat(ByteSize.text(1536)).isEqualTo("1.5 KiB");
        assertThat(ByteSize.text(Long.MAX_VALUE)).isEqualTo("8.0 EiB");
    }

    @Test
    void json_keepsTheOrderAndNests() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("z", 1);
        map.put("a", Arrays.asList(true, null, 2L));
        map.put("empty", List.of());

        assertThat(JsonText.of(map))
                .isEqualTo(
                        "{\n  \"z\": 1,\n  \"a\": [\n    true,\n    null,\n    2\n  ],\n"
                                + "  \"empty\": []\n}\n");
    }

    @Property(tries = 200)
    void anyString_comesBackFromJson(@ForAll String string) throws Exception {
        assertThat(new ObjectMapper().readTree(JsonText.of(string)).asText()).isEqualTo(string);
    }
}
