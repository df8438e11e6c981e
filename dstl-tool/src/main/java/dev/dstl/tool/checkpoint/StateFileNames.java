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

package dev.dstl.tool.checkpoint;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Collects the names of state files from the metadata that is read through it. Flink gives each
 * such file a random UUID as its name, so a name is found wherever it stands: in handles of any
 * class, and in the state of a sink that keeps files of its own.
 */
public final class StateFileNames extends FilterInputStream {

    private static final int LENGTH = 36;
    private static final Pattern NAME =
            Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    private final Set<UUID> names;

    /** The last bytes that may be part of a name. */
    private final byte[] window = new byte[LENGTH];

    private int filled;

    StateFileNames(InputStream in, Set<UUID> names) {
        super(in);
        this.names = names;
    }

    /** Returns the name of a state file as a UUID; empty if a file is not named like one. */
    public static Optional<UUID> of(String fileName) {
        return NAME.matcher(fileName).matches()
                ? Optional.of(UUID.fromString(fileName))
                : Optional.empty();
    }

    @Override
    public int read() throws IOException {
        int next = super.read();
        if (next >= 0) {
            add((byte) next);
        }
        return next;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        int count = super.read(bytes, offset, length);
        for (int i = 0; i < count; i++) {
            add(bytes[offset + i]);
        }
        return count;
    }

    /** Reads what is skipped, as it may contain names. */
    @Override
    public long skip(long count) throws IOException {
        long skipped = 0;
        while (skipped < count && read() >= 0) {
            skipped++;
        }
        return skipped;
    }

    @Override
    public boolean markSupported() {
        return false;
    }

    private void add(byte next) {
        if (!isDigit(next) && next != '-') {
            filled = 0;
            return;
        }
        if (filled == LENGTH) {
            System.arraycopy(window, 1, window, 0, LENGTH - 1);
            filled--;
        }
        window[filled++] = next;
        if (filled == LENGTH && window[8] == '-' && window[13] == '-') {
            of(new String(window, StandardCharsets.US_ASCII)).ifPresent(names::add);
        }
    }

    private static boolean isDigit(byte character) {
        return (character >= '0' && character <= '9') || (character >= 'a' && character <= 'f');
    }
}
