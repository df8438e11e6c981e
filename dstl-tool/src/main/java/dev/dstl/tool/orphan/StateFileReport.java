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

import dev.dstl.tool.output.ByteSize;
import dev.dstl.tool.output.Table;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** State files that no checkpoint names. Immutable. */
public final class StateFileReport {

    private final int named;
    private final int recent;
    private final int otherFiles;
    private final List<UnnamedStateFile> unnamed;

    StateFileReport(int named, int recent, int otherFiles, List<UnnamedStateFile> unnamed) {
        this.named = named;
        this.recent = recent;
        this.otherFiles = otherFiles;
        this.unnamed = unnamed;
    }

    private long bytes() {
        return unnamed.stream().mapToLong(UnnamedStateFile::bytes).sum();
    }

    /** Returns the text for people; ends with a line break. */
    public String text() {
        StringBuilder text = new StringBuilder();
        text.append(
                String.format(
                        "state files  named: %d, recent: %d, of no checkpoint: %d (%s)%n",
                        named, recent, unnamed.size(), ByteSize.text(bytes())));
        if (otherFiles > 0) {
            text.append(String.format("other files  %d, not named like state files%n", otherFiles));
        }
        if (!unnamed.isEmpty()) {
            text.append(
                    "State files are listed only: a write-ahead sink may need some of them, and"
                            + " jobs that may run the ones with \"maybe\".\n\n");
            Table table = new Table("written", ">bytes", "needed", "state file of no checkpoint");
            for (UnnamedStateFile file : unnamed) {
                table.row(
                        file.written(),
                        ByteSize.text(file.bytes()),
                        file.isOfRunningJob() ? "maybe" : "no",
                        file.file());
            }
            text.append(table.text());
        }
        return text.toString();
    }

    /** Returns the JSON for programs. Names and meanings stay the same in later releases. */
    public Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("named", named);
        json.put("recent", recent);
        json.put("otherFiles", otherFiles);
        json.put("unnamedBytes", bytes());
        List<Object> files = new ArrayList<>();
        for (UnnamedStateFile unnamedFile : unnamed) {
            Map<String, Object> file = unnamedFile.json();
            file.put("jobMayRun", unnamedFile.isOfRunningJob());
            files.add(file);
        }
        json.put("unnamed", files);
        return json;
    }
}
