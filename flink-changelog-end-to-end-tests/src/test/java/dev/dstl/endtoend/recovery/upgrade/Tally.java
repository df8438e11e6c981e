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

    /** Version that wrote it last. */
    public int writtenBy = 1;

    public long count;
    public Grade grade = Grade.EVEN;

    /** Increments the count. */
    public void increment() {
        set(count + 1);
    }

    /** Sets the count and everything derived from it. */
    public void set(long newCount) {
        writtenBy = 1;
        count = newCount;
        grade = count % 2 == 0 ? Grade.EVEN : Grade.ODD;
    }

    /** Describes an inconsistency; empty if there is none. */
    public String complaint() {
        boolean right = writtenBy == 1 && grade == (count % 2 == 0 ? Grade.EVEN : Grade.ODD);
        return right ? "" : "version 1 read " + writtenBy + ", " + count + ", " + grade;
    }

    /** Grade of the count. Later versions have more constants, in another order. */
    public enum Grade {
        EVEN,
        ODD
    }
}
