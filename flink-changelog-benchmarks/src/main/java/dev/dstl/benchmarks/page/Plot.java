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

package dev.dstl.benchmarks.page;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.VectorGraphicsEncoder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.internal.chartpart.Chart;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.Styler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** A chart and its files. Needs no screen. */
public final class Plot {

    private static final int WIDTH = 820;
    private static final int HEIGHT = 420;
    private static final Font FONT = new Font(Font.SANS_SERIF, Font.PLAIN, 13);
    private static final Color GRID = new Color(0xdddddd);

    private final String name;
    private final Chart<?, ?> chart;

    private Plot(String name, Chart<?, ?> chart) {
        this.name = name;
        this.chart = chart;
    }

    /** Returns an empty line chart. */
    public static XYChart lines(String title, String x, String y) {
        XYChart chart =
                new XYChartBuilder()
                        .width(WIDTH)
                        .height(HEIGHT)
                        .title(title)
                        .xAxisTitle(x)
                        .yAxisTitle(y)
                        .build();
        look(chart.getStyler());
        return chart;
    }

    /** Returns an empty bar chart. */
    static CategoryChart bars(String title, String y) {
        CategoryChart chart =
                new CategoryChartBuilder()
                        .width(WIDTH)
                        .height(HEIGHT)
                        .title(title)
                        .yAxisTitle(y)
                        .build();
        look(chart.getStyler());
        chart.getStyler().setXAxisLabelRotation(20);
        chart.getStyler().setAvailableSpaceFill(0.7);
        return chart;
    }

    /** Adds a line without markers. */
    public static void addLine(
            XYChart chart, String label, List<Double> x, List<Double> y, VariantStyle style) {
        XYSeries series = chart.addSeries(label, x, y);
        series.setMarker(SeriesMarkers.NONE);
        series.setLineColor(style.color());
        series.setLineStyle(style.stroke());
    }

    /** Adds a group of bars. */
    static void addBar(
            CategoryChart chart,
            String label,
            List<String> names,
            List<Double> values,
            VariantStyle style) {
        chart.addSeries(label, names, values).setFillColor(style.color());
        chart.getStyler().setOverlapped(true);
        chart.getStyler().setLegendVisible(false);
        chart.getStyler().setLabelsVisible(true);
        chart.getStyler().setDecimalPattern("#,##0.#");
    }

    /**
     * Returns a plot.
     *
     * @param name name of its files
     */
    public static Plot of(String name, Chart<?, ?> chart) {
        return new Plot(name, chart);
    }

    /** Returns the name of the file that the report shows. */
    String file() {
        return name + ".svg";
    }

    /** Writes {@code <name>.svg} and {@code <name>.png}. */
    void write(Path directory) throws IOException {
        writeSvg(directory.resolve(file()));
        try (OutputStream out = open(directory.resolve(name + ".png"))) {
            BitmapEncoder.saveBitmap(chart, out, BitmapEncoder.BitmapFormat.PNG);
        }
    }

    /** Writes a file in the SVG format. */
    public void writeSvg(Path file) throws IOException {
        try (OutputStream out = open(file)) {
            VectorGraphicsEncoder.saveVectorGraphic(
                    chart, out, VectorGraphicsEncoder.VectorGraphicsFormat.SVG);
        }
    }

    private static OutputStream open(Path file) throws IOException {
        return new BufferedOutputStream(Files.newOutputStream(file));
    }

    private static void look(AxesChartStyler styler) {
        styler.setLocale(Locale.ROOT);
        styler.setBaseFont(FONT);
        styler.setAxisTickLabelsFont(FONT);
        styler.setAxisTitleFont(FONT);
        styler.setLegendFont(FONT);
        styler.setChartTitleFont(FONT.deriveFont(Font.BOLD, 15f));
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setPlotBackgroundColor(Color.WHITE);
        styler.setPlotBorderVisible(false);
        styler.setPlotGridLinesColor(GRID);
        styler.setPlotGridLinesStroke(new BasicStroke(1));
        styler.setPlotGridVerticalLinesVisible(false);
        styler.setLegendPosition(Styler.LegendPosition.OutsideE);
        styler.setLegendBorderColor(Color.WHITE);
    }
}
