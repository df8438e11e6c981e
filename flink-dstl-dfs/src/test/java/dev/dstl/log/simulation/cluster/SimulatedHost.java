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

package dev.dstl.log.simulation.cluster;

import dev.dstl.log.simulation.schedule.Dice;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.util.FileUtils;

/**
 * A machine whose processes share a directory for local state, on a real disk. Results do not
 * depend on its path.
 */
public final class SimulatedHost {

    private static final AtomicLong COUNT = new AtomicLong();

    private final File directory =
            new File(
                    System.getProperty("java.io.tmpdir"),
                    "simulation-" + ProcessHandle.current().pid() + "-" + COUNT.incrementAndGet());

    private boolean damaged;

    /** Returns the directory of local state. */
    File directory() {
        return directory;
    }

    /** Whether files have been lost or corrupted. */
    public boolean isDamaged() {
        return damaged;
    }

    /** Damages some files; returns whether there were any. */
    boolean damage(Dice dice) {
        List<Path> files = files();
        if (files.isEmpty()) {
            return false;
        }
        damaged = true;
        try {
            int count = dice.oneOf(1, 3, files.size());
            for (int i = 0; i < count; i++) {
                damage(dice, dice.oneOf(files));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return true;
    }

    /** Loses all copies, which an invariant must detect. */
    void loseCopies() {
        FileUtils.deleteDirectoryQuietly(directory);
    }

    private static void damage(Dice dice, Path file) throws IOException {
        if (!Files.exists(file) || Files.size(file) == 0) {
            return;
        }
        byte[] bytes = Files.readAllBytes(file);
        switch (dice.below(3)) {
            case 0:
                Files.delete(file);
                break;
            case 1:
                Files.write(file, Arrays.copyOf(bytes, dice.below(bytes.length)));
                break;
            default:
                int at = dice.below(bytes.length);
                bytes[at] = (byte) (bytes[at] ^ 1 << dice.below(8));
                Files.write(file, bytes);
        }
    }

    /** Copies of segments, in a deterministic order. */
    private List<Path> files() {
        if (!directory.exists()) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(directory.toPath())) {
            return files.filter(file -> file.toString().endsWith(".seg"))
                    .sorted()
                    .collect(Collectors.toList());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void vanish() {
        FileUtils.deleteDirectoryQuietly(directory);
    }
}
