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

package dev.dstl.changelog.differential.history;

import java.util.ArrayList;
import java.util.List;

/**
 * A step of a history. Consists of numbers that are valid in any state of the job, so that a
 * history without some of its steps is valid as well. Immutable.
 */
public final class Step {

    private final StepType type;
    private final int[] numbers;

    Step(StepType type, int... numbers) {
        this.type = type;
        this.numbers = numbers;
    }

    public StepType type() {
        return type;
    }

    /** Returns one of its numbers, at least 0. */
    public int number(int index) {
        return numbers[index];
    }

    /** Returns one of its numbers, below a limit. */
    public int number(int index, int limit) {
        return numbers[index] % limit;
    }

    @Override
    public String toString() {
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < numbers.length; i++) {
            texts.add(type.names()[i] + " " + numbers[i]);
        }
        return type + texts.toString();
    }
}
