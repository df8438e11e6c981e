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

/** What a command found, for both kinds of reader. */
public interface Report {

    /** For people; ends with a line break. */
    String text();

    /**
     * For programs: maps, lists, strings, numbers, booleans and null. Names and meanings are kept
     * from release to release.
     */
    Map<String, Object> json();

    /** One sentence about what is wrong with what was looked at, or nothing if all is well. */
    Optional<String> problem();
}
