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

package dev.dstl.benchmarks.progress;

import java.io.File;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The progress slots of a job in one directory. Serialized with the job; its tasks write to the
 * slots, and the observer of the job reads them. All processes run on one machine.
 */
public final class ProgressBoard implements Serializable {

    private static final long serialVersionUID = 1L;
    private static final String SOURCE = "source-";
    private static final String KEYED = "keyed-";

    private final File directory;

    /** Creates a board in a directory that all processes can access. */
    public ProgressBoard(Path directory) {
        this.directory = directory.toAbsolutePath().toFile();
    }

    /** Opens the slot of a source subtask for a new attempt. */
    public ProgressSlot source(int subtask) throws IOException {
        return ProgressSlot.open(directory.toPath().resolve(SOURCE + subtask));
    }

    /** Opens the slot of a subtask of the first keyed operator for a new attempt. */
    public ProgressSlot keyed(int subtask) throws IOException {
        return ProgressSlot.open(directory.toPath().resolve(KEYED + subtask));
    }

    /** Reads all slots, one after the other, while tasks may write to them. */
    public Progress read() throws IOException {
        return new Progress(read(SOURCE), read(KEYED));
    }

    private List<ProgressSlot.Reading> read(String role) throws IOException {
        if (!directory.isDirectory()) {
            return List.of();
        }
        List<Path> files;
        try (Stream<Path> all = Files.list(directory.toPath())) {
            files =
                    all.filter(file -> file.getFileName().toString().startsWith(role))
                            .sorted()
                            .collect(Collectors.toList());
        }
        List<ProgressSlot.Reading> readings = new ArrayList<>(files.size());
        for (Path file : files) {
            readings.add(ProgressSlot.read(file));
        }
        return readings;
    }
}
