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
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressState;

/** Output for terminals: a progress bar that is redrawn in place below the permanent lines. */
public final class TerminalDisplay implements Display {

    private static final int STEPS = 1000;
    private static final int BAR_WIDTH = 24;

    private final PrintStream out;
    private final int columns;
    private ProgressBar bar;

    /**
     * Creates a display.
     *
     * @param columns width of the terminal in characters
     */
    public TerminalDisplay(PrintStream out, int columns) {
        this.out = out;
        // A line as wide as the terminal would wrap when it is cleared.
        this.columns = columns - 1;
    }

    @Override
    public void say(String line) {
        // The bar draws from a thread of its own; what stays is written while there is no bar.
        close();
        out.println(line);
    }

    @Override
    public void progress(double fraction, String state) {
        if (bar == null) {
            bar =
                    new ProgressBarBuilder()
                            .setInitialMax(STEPS)
                            .setUpdateIntervalMillis(250)
                            .setMaxRenderedLength(columns)
                            .setConsumer(new ConsoleProgressBarConsumer(out, columns))
                            .setRenderer(TerminalDisplay::line)
                            .clearDisplayOnFinish()
                            .build();
        }
        bar.stepTo(Math.round(fraction * STEPS));
        bar.setExtraMessage(state);
    }

    @Override
    public void close() {
        if (bar != null) {
            bar.close();
            bar = null;
        }
    }

    private static String line(ProgressState progress, int width) {
        double fraction = progress.getNormalizedProgress();
        int done = (int) Math.round(fraction * BAR_WIDTH);
        String line =
                String.format(
                        Locale.ROOT,
                        "  [%s%s] %3.0f %%  %s",
                        "=".repeat(done),
                        " ".repeat(BAR_WIDTH - done),
                        fraction * 100,
                        progress.getExtraMessage());
        return line.length() <= width ? line : line.substring(0, width);
    }
}
