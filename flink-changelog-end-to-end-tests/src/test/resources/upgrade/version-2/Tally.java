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

package dev.dstl.endtoend.recovery.upgrade;

/** The second version: an additional field and an additional enum constant, before the others. */
public class Tally {

    public int writtenBy = 2;
    public long count;
    public long square;
    public Grade grade = Grade.FOURTH;

    public void increment() {
        set(count + 1);
    }

    public void set(long newCount) {
        writtenBy = 2;
        count = newCount;
        square = count * count;
        grade = count % 4 == 0 ? Grade.FOURTH : count % 2 == 0 ? Grade.EVEN : Grade.ODD;
    }

    public String complaint() {
        Grade before = count % 2 == 0 ? Grade.EVEN : Grade.ODD;
        Grade now = count % 4 == 0 ? Grade.FOURTH : before;
        boolean right =
                writtenBy == 1
                        ? square == 0 && grade == before
                        : writtenBy == 2 && square == count * count && grade == now;
        return right
                ? ""
                : "version 2 read " + writtenBy + ", " + count + ", " + square + ", " + grade;
    }

    public enum Grade {
        FOURTH,
        EVEN,
        ODD
    }
}
