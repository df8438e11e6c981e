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

package dev.dstl.log.simulation.schedule;

import java.util.ArrayList;
import java.util.List;

/**
 * The events of a simulation, as a hash, and optionally as text, which costs more than everything
 * else in a simulation.
 */
public final class Trace {

    private static final long PRIME = 0x100000001b3L;

    private final List<String> lines;
    private long hash = 0xcbf29ce484222325L;
    private long length;

    /**
     * @param inWords whether {@link #lines} is wanted
     */
    public Trace(boolean inWords) {
        lines = inWords ? new ArrayList<>() : null;
    }

    public void note(long millis, String who, String what) {
        mix(millis);
        mix(who.hashCode());
        mix(what.hashCode());
        length++;
        if (lines != null) {
            lines.add(millis + " ms  " + who + "  " + what);
        }
    }

    private void mix(long value) {
        hash = (hash ^ value) * PRIME;
        hash ^= hash >>> 29;
    }

    public long hash() {
        return hash;
    }

    public long length() {
        return length;
    }

    /** Returns the recorded lines; empty if recording is off. */
    public List<String> lines() {
        return lines == null ? List.of() : lines;
    }
}
