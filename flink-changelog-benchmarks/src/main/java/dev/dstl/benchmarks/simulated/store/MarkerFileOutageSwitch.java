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

package dev.dstl.benchmarks.simulated.store;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Switches outages of a store that several processes use: an outage lasts as long as a file with
 * its name exists, so that a benchmark (or {@code echo HANGING > file}) reaches all of them.
 */
public final class MarkerFileOutageSwitch implements OutageSwitch {

    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Path marker;
    private final StoreTime time;

    /**
     * Creates a switch.
     *
     * @param marker file that contains the name of the outage
     */
    public MarkerFileOutageSwitch(Path marker, StoreTime time) {
        this.marker = marker;
        this.time = time;
    }

    @Override
    public void begin(Outage outage) throws IOException {
        Files.createDirectories(marker.toAbsolutePath().getParent());
        Path next = marker.resolveSibling(marker.getFileName() + ".next");
        Files.write(next, outage.name().getBytes(StandardCharsets.US_ASCII));
        Files.move(next, marker, StandardCopyOption.ATOMIC_MOVE);
    }

    @Override
    public void end() throws IOException {
        Files.deleteIfExists(marker);
    }

    @Override
    public Optional<Outage> awaitAnswer() throws IOException, InterruptedException {
        while (Files.exists(marker)) {
            String text = read();
            if (!text.isEmpty() && outage(text) != Outage.HANGING) {
                return Optional.of(outage(text));
            }
            time.sleep(POLL_NANOS);
        }
        return Optional.empty();
    }

    private Outage outage(String text) throws IOException {
        try {
            return Outage.valueOf(text);
        } catch (IllegalArgumentException e) {
            throw new IOException(
                    String.format(
                            "Unknown outage '%s' in %s; one of %s",
                            text, marker, Arrays.toString(Outage.values())),
                    e);
        }
    }

    private String read() throws IOException {
        try {
            return new String(Files.readAllBytes(marker), StandardCharsets.US_ASCII).trim();
        } catch (NoSuchFileException e) {
            return "";
        }
    }
}
