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
 * The directory of all progress slots of one job. Travels with the job to its tasks, which write;
 * the observer of the job reads. All on one machine.
 */
public final class ProgressBoard implements Serializable {

    private static final long serialVersionUID = 1L;
    private static final String SOURCE = "source-";
    private static final String KEYED = "keyed-";

    private final File directory;

    /** In a directory that all processes see. */
    public ProgressBoard(Path directory) {
        this.directory = directory.toAbsolutePath().toFile();
    }

    /** The slot of a source subtask, opened for a new attempt. */
    public ProgressSlot source(int subtask) throws IOException {
        return ProgressSlot.open(directory.toPath().resolve(SOURCE + subtask));
    }

    /** The slot of a subtask of the first keyed operator, opened for a new attempt. */
    public ProgressSlot keyed(int subtask) throws IOException {
        return ProgressSlot.open(directory.toPath().resolve(KEYED + subtask));
    }

    /** Looks at all slots. Slots are read one after the other while their owners go on writing. */
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
