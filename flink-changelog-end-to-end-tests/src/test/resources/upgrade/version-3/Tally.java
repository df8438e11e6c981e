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

/** The third version: a removed field, and one of another type. */
public class Tally {

    public int writtenBy = 3;
    public long count;
    public String text = "";
    public Grade grade = Grade.FOURTH;

    public void increment() {
        set(count + 1);
    }

    public void set(long newCount) {
        writtenBy = 3;
        count = newCount;
        text = Long.toString(count);
        grade = count % 4 == 0 ? Grade.FOURTH : count % 2 == 0 ? Grade.EVEN : Grade.ODD;
    }

    public String complaint() {
        Grade before = count % 2 == 0 ? Grade.EVEN : Grade.ODD;
        Grade now = count % 4 == 0 ? Grade.FOURTH : before;
        boolean right;
        switch (writtenBy) {
            case 1:
                right = isAbsent(text) && grade == before;
                break;
            case 2:
                right = isAbsent(text) && grade == now;
                break;
            default:
                right = writtenBy == 3 && text.equals(Long.toString(count)) && grade == now;
        }
        return right
                ? ""
                : "version 3 read " + writtenBy + ", " + count + ", '" + text + "', " + grade;
    }

    /** A new field has the value of a new object or none at all, as Flink pleases. */
    private static boolean isAbsent(String text) {
        return text == null || text.isEmpty();
    }

    public enum Grade {
        UNKNOWN,
        FOURTH,
        ODD,
        EVEN
    }
}
