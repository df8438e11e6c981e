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

package dev.dstl.benchmarks.cost;

import dev.dstl.log.testing.FaultyStore;

/** Requests to a store, of one TaskManager or several. Immutable. */
final class StoreUse {

    final double puts;
    final double gets;
    final double deletes;
    final double writtenBytes;
    final double storedBytes;

    private StoreUse(
            double puts, double gets, double deletes, double writtenBytes, double storedBytes) {
        this.puts = puts;
        this.gets = gets;
        this.deletes = deletes;
        this.writtenBytes = writtenBytes;
        this.storedBytes = storedBytes;
    }

    /** Returns the requests so far. */
    static StoreUse of(FaultyStore store) {
        return new StoreUse(
                store.requests("create"),
                store.requests("open"),
                store.requests("delete"),
                store.writtenBytes(),
                store.storedBytes());
    }

    /** Returns the requests since {@code then}. */
    StoreUse since(StoreUse then) {
        return new StoreUse(
                puts - then.puts,
                gets - then.gets,
                deletes - then.deletes,
                writtenBytes - then.writtenBytes,
                storedBytes);
    }

    /** Returns the same with one deletion per written file, as in the long run. */
    StoreUse withADeletionPerFile() {
        return new StoreUse(puts, gets, puts, writtenBytes, storedBytes);
    }

    StoreUse plus(StoreUse other) {
        return new StoreUse(
                puts + other.puts,
                gets + other.gets,
                deletes + other.deletes,
                writtenBytes + other.writtenBytes,
                storedBytes + other.storedBytes);
    }

    /**
     * The mean.
     *
     * @param taskManagers whose use this is the sum of
     * @param checkpoints in that time
     */
    StoreUse per(int taskManagers, int checkpoints) {
        double all = (double) taskManagers * checkpoints;
        return new StoreUse(
                puts / all,
                gets / all,
                deletes / all,
                writtenBytes / all,
                storedBytes / taskManagers);
    }
}
