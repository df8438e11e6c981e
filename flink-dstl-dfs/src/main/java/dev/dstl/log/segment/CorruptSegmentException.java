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

package dev.dstl.log.segment;

import java.io.IOException;

/**
 * A segment is corrupt. The restore fails without a retry; the message names the file and the fix.
 */
public final class CorruptSegmentException extends IOException {

    private static final String RESTORE =
            "Restore from another checkpoint or savepoint; this one cannot be read completely.";

    private static final String NEWER_RELEASE =
            "If a newer release wrote this checkpoint, restore it with that release.";

    private final String file;
    private final long offset;
    private final String expected;
    private final String found;

    private CorruptSegmentException(
            String file, long offset, String expected, String found, String advice) {
        super(
                String.format(
                        "Segment %s, byte %d: expected %s, found %s. %s",
                        file, offset, expected, found, advice));
        this.file = file;
        this.offset = offset;
        this.expected = expected;
        this.found = found;
    }

    /** Creates an exception for a file whose content is invalid. */
    public static CorruptSegmentException damaged(
            String file, long offset, String expected, String found) {
        return new CorruptSegmentException(
                file, offset, expected, found, "The file is damaged. " + RESTORE);
    }

    static CorruptSegmentException foreign(String file, String found) {
        return new CorruptSegmentException(
                file,
                0,
                "the magic bytes of a DSTL segment",
                found,
                "The file is not a segment; something else was written under its name. " + RESTORE);
    }

    static CorruptSegmentException otherVersion(String file, int version) {
        return new CorruptSegmentException(
                file,
                Long.BYTES,
                "segment format version " + SegmentFormat.VERSION,
                "version " + Integer.toUnsignedString(version),
                NEWER_RELEASE);
    }

    /**
     * Creates an exception for a code that this release does not know, although checksums match.
     */
    static CorruptSegmentException unknownCode(
            String file, long offset, String expected, String found) {
        return new CorruptSegmentException(
                file,
                offset,
                expected,
                found,
                "The checksums match, so the file is probably not damaged. "
                        + NEWER_RELEASE
                        + " Otherwise restore from another checkpoint or savepoint.");
    }

    /** Returns the name of the file. */
    public String file() {
        return file;
    }

    /** Returns the offset in the file, in bytes. */
    public long offset() {
        return offset;
    }

    /** Returns the expected content. */
    public String expected() {
        return expected;
    }

    /** Returns the content that was found. */
    public String found() {
        return found;
    }
}
