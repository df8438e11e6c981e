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

package dev.dstl.spillable.partition;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The version of the format in which a partition was written. */
public final class PartitionVersion {

    private PartitionVersion() {}

    /**
     * Fails if a partition was written by a later release, before it is taken for a damaged one.
     *
     * @param bytes start with the partition, whose checksum was compared
     * @param file where they were read, for the message
     * @param offset in the file
     * @throws IOException if this release does not know the version of the partition
     */
    public static void requireKnown(byte[] bytes, int length, Object file, long offset)
            throws IOException {
        ByteBuffer header = ByteBuffer.wrap(bytes, 0, length).order(ByteOrder.LITTLE_ENDIAN);
        if (length < PartitionFormat.PAGE_CRCS_AT
                || header.getLong(PartitionFormat.MAGIC_AT) != PartitionFormat.MAGIC) {
            return;
        }
        int version = header.getInt(PartitionFormat.VERSION_AT);
        if (version != PartitionFormat.VERSION) {
            throw new IOException(
                    String.format(
                            "%s has a partition of version %d at byte %d, expected %d; restore it"
                                    + " with the release that wrote it.",
                            file, version, offset, PartitionFormat.VERSION));
        }
    }
}
