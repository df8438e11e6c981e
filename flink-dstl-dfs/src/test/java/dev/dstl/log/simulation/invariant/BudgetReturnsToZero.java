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

package dev.dstl.log.simulation.invariant;

import dev.dstl.log.simulation.cluster.SimulatedLog;

/** Bytes in flight are released exactly, after success, failure and closing alike. */
public final class BudgetReturnsToZero extends Invariant {

    @Override
    public void settled() {
        for (SimulatedLog log : cluster().logs()) {
            check(log, log.isVanished() ? 0 : log.heldBytesLimit());
        }
    }

    @Override
    public void ended() {
        for (SimulatedLog log : cluster().logs()) {
            check(log, 0);
        }
    }

    private void check(SimulatedLog log, long limit) {
        if (!log.isVanished() && log.reservedBytes() > limit) {
            violated("%s has %d bytes reserved", log.incarnation(), log.reservedBytes());
        }
    }
}
