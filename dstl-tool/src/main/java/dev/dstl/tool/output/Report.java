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

package dev.dstl.tool.output;

import java.util.Map;
import java.util.Optional;

/** The result of a command, as text and as JSON. */
public interface Report {

    /** Returns the text for people; ends with a line break. */
    String text();

    /**
     * Returns the JSON for programs: maps, lists, strings, numbers, booleans and null. Names and
     * meanings stay the same in later releases.
     */
    Map<String, Object> json();

    /** Returns one sentence about the problem that was found; empty if all is well. */
    Optional<String> problem();
}
