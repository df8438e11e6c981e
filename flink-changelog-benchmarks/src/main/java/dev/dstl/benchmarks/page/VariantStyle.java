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

/** The style of a variant in all plots: the color shows the changelog, the stroke the delegate. */
public final class VariantStyle {

    private static final Color PLAIN = new Color(0x6b7280);
    private static final Color RARE = new Color(0xb6bcc6);
    private static final Color BUILT_IN = new Color(0xd97706);
    private static final Color DSTL = new Color(0x2563eb);
    private static final float WIDTH = 2;
    private static final float[] DASHES = {7, 4};
    private static final float[] DOTS = {2, 3};

    private final Color color;
    private final BasicStroke stroke;

    private VariantStyle(Color color, BasicStroke stroke) {
        this.color = color;
        this.stroke = stroke;
    }

    /**
     * Returns the style of a variant.
     *
     * @param variant {@code <whose>-<delegate>}
     */
    public static VariantStyle of(String variant) {
        int dash = variant.indexOf('-');
        return new VariantStyle(
                color(variant.substring(0, Math.max(0, dash))),
                stroke(variant.substring(dash + 1)));
    }

    Color color() {
        return color;
    }

    BasicStroke stroke() {
        return stroke;
    }

    private static Color color(String whose) {
        switch (whose) {
            case "rare":
                return RARE;
            case "builtin":
                return BUILT_IN;
            case "dstl":
                return DSTL;
            default:
                return PLAIN;
        }
    }

    private static BasicStroke stroke(String delegate) {
        switch (delegate) {
            case "hashmap":
                return dashed(DASHES);
            case "spillable":
                return dashed(DOTS);
            default:
                return new BasicStroke(WIDTH);
        }
    }

    private static BasicStroke dashed(float[] pattern) {
        return new BasicStroke(WIDTH, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 1, pattern, 0);
    }
}
