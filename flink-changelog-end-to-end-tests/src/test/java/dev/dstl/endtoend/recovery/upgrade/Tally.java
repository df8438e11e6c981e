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

/**
 * A count with redundant fields, so that a lost or mixed-up field is detected. This is the first
 * version; the sources of later ones are resources, compiled into jars by {@link JobVersion}. A
 * POJO for Flink.
 */
public class Tally {

    /** Which version wrote it last. */
    public int writtenBy = 1;

    public long count;
    public Grade grade = Grade.EVEN;

    /** Adds one. */
    public void increment() {
        set(count + 1);
    }

    /** Gives it a count, and everything that follows from that. */
    public void set(long newCount) {
        writtenBy = 1;
        count = newCount;
        grade = count % 2 == 0 ? Grade.EVEN : Grade.ODD;
    }

    /** What is wrong with it; empty if nothing is. */
    public String complaint() {
        boolean right = writtenBy == 1 && grade == (count % 2 == 0 ? Grade.EVEN : Grade.ODD);
        return right ? "" : "version 1 read " + writtenBy + ", " + count + ", " + grade;
    }

    /** Of the count. Later versions have more of them, in another order. */
    public enum Grade {
        EVEN,
        ODD
    }
}
