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

package dev.dstl.spillable.spill;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;

class SpillRequestTest {

    private final SpillRequest request = new SpillRequest();

    @Example
    void atFirst_nothingIsAskedFor() {
        assertThat(request.isOpen()).isFalse();
        assertThat(request.asksToSpill()).isFalse();
        request.done(5);
        assertThat(request.isOpen()).isFalse();
    }

    @Property
    void whatIsDone_isTakenOffInEitherDirection(
            @ForAll @LongRange(min = 1, max = 1 << 20) long bytes,
            @ForAll @LongRange(min = 1, max = 1 << 20) long step,
            @ForAll boolean toSpill) {
        request.set(toSpill ? bytes : -bytes, false);
        long steps = 0;
        while (request.isOpen() && steps < 100) {
            assertThat(request.asksToSpill()).isEqualTo(toSpill);
            request.done(step);
            steps++;
        }

        assertThat(steps).isEqualTo(Math.min(100, (bytes + step - 1) / step));
    }

    @Example
    void aLaterRequest_replacesTheOneBefore() {
        request.set(1000, true);
        assertThat(request.isUrgent()).isTrue();

        request.set(-10, false);

        assertThat(request.isUrgent()).isFalse();
        assertThat(request.asksToSpill()).isFalse();
        request.done(10);
        assertThat(request.isOpen()).isFalse();
    }

    @Example
    void whatIsDropped_isNotAskedForAnyMore() {
        request.set(1000, false);
        request.drop();

        assertThat(request.isOpen()).isFalse();
    }
}
