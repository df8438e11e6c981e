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

package dev.dstl.benchmarks.display;

import java.io.PrintStream;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Output for pipes and files: a progress line every few seconds, without control characters. */
public final class PlainDisplay implements Display {

    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(3);

    private final PrintStream out;
    private long nextNanos = System.nanoTime() + INTERVAL_NANOS;

    /** Creates a display. */
    public PlainDisplay(PrintStream out) {
        this.out = out;
    }

    @Override
    public void say(String line) {
        out.println(line);
    }

    @Override
    public void progress(double fraction, String state) {
        if (System.nanoTime() - nextNanos >= 0) {
            nextNanos = System.nanoTime() + INTERVAL_NANOS;
            out.println(String.format(Locale.ROOT, "  %3.0f %%  %s", fraction * 100, state));
        }
    }

    @Override
    public void close() {
        out.flush();
    }
}
