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

/** A variant, and those it is set against. Written as JSON. */
public final class VariantDescription {

    /** For people. */
    public String label = "";

    /** The name of the delegate without a changelog. */
    public String plain = "";

    /**
     * The variant with Flink's built-in changelog to compare with; empty unless this one is DSTL.
     */
    public String builtIn = "";

    /** The name of the delegate with rare checkpoints: what logging costs; may not have run. */
    public String rare = "";
}
