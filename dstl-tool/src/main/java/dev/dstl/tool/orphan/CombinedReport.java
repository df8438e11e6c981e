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

package dev.dstl.tool.orphan;

import dev.dstl.tool.output.Report;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Segments and state files that no checkpoint needs. Immutable. */
public final class CombinedReport implements Report {

    private final OrphanReport segments;
    private final StateFileReport stateFiles;

    /** Combines the two; the problem of the segments is that of both. */
    public CombinedReport(OrphanReport segments, StateFileReport stateFiles) {
        this.segments = segments;
        this.stateFiles = stateFiles;
    }

    @Override
    public String text() {
        return segments.text() + '\n' + stateFiles.text();
    }

    @Override
    public Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>(segments.json());
        json.put("stateFiles", stateFiles.json());
        return json;
    }

    @Override
    public Optional<String> problem() {
        return segments.problem();
    }
}
