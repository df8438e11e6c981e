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

package dev.dstl.benchmarks.job;

import java.nio.charset.StandardCharsets;

/** Words of 16 hexadecimal digits out of a fixed set, each once before any comes again. */
final class WordInput extends GeneratedInput<String> {

    private static final long serialVersionUID = 1L;
    private static final int DIGITS = 16;
    private static final byte[] HEXADECIMAL =
            "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    private final long words;

    WordInput(long words) {
        this.words = words;
    }

    @Override
    String event(long number) {
        long word = number < words ? number : Scrambler.below(words, number);
        long digits = Scrambler.scramble(word);
        byte[] text = new byte[DIGITS];
        for (int i = 0; i < DIGITS; i++) {
            text[i] = HEXADECIMAL[(int) (digits >>> (4 * i)) & 0xf];
        }
        return new String(text, StandardCharsets.ISO_8859_1);
    }
}
