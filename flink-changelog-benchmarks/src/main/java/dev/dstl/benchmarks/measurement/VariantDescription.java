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

package dev.dstl.benchmarks.measurement;

/** A variant, and the variants with which it is compared. Written as JSON. */
public final class VariantDescription {

    /** Label in reports. */
    public String label = "";

    /** Name of the delegate without a changelog. */
    public String plain = "";

    /** Name of the variant with Flink's built-in changelog; empty unless this variant is DSTL. */
    public String builtIn = "";

    /**
     * Name of the delegate with rare checkpoints, which shows the cost of the changelog; may not
     * have been run.
     */
    public String rare = "";
}
