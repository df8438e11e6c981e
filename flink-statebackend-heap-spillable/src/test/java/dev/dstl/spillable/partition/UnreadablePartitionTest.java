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

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * A file that ends too early stands for a disk that cannot be read: an access to the mapping past
 * its end faults as one to a bad sector does.
 */
class UnreadablePartitionTest extends PartitionFixture {

    private static final int READABLE_PAGES = 4;

    private static Map<String, byte[]> entries() {
        Map<String, byte[]> entries = new HashMap<>();
        for (int i = 0; i < 2000; i++) {
            entries.put("key " + i, bytes("value " + i));
        }
        return entries;
    }

    private static void shorten(SealedPartition partition, int pages) throws IOException {
        try (FileChannel file = FileChannel.open(partition.file(), StandardOpenOption.WRITE)) {
            file.truncate(partition.extent().offset() + pages * 4096L);
        }
    }

    private static void assertNames(Throwable failure, SealedPartition partition) {
        assertThat(failure)
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("state 'counts', key group 17")
                .hasMessageContaining(partition.file().toString())
                .hasMessageContaining("Check the disk")
                .hasCauseInstanceOf(IOException.class);
    }

    @Test
    void aPageThatCannotBeRead_failsItsReader_andNotTheProcess() throws IOException {
        Map<String, byte[]> entries = entries();
        SealedPartition partition = write(entries);
        assertThat(partition.length()).isGreaterThan(2 * READABLE_PAGES * 4096);
        shorten(partition, READABLE_PAGES);

        int read = 0;
        int failed = 0;
        for (Map.Entry<String, byte[]> entry : entries.entrySet()) {
            try {
                assertThat(get(partition, entry.getKey())).isEqualTo(entry.getValue());
                read++;
            } catch (UncheckedIOException e) {
                failed++;
                assertNames(e, partition);
            }
        }
        assertThat(read).as("keys on pages that can be read").isPositive();
        assertThat(failed).as("keys on pages that cannot").isPositive();
    }

    @Test
    void aReadPastTheMapping_namesTheSame() throws IOException {
        Map<String, byte[]> entries = entries();
        SealedPartition partition = write(entries);
        shorten(partition, READABLE_PAGES);

        int failed = 0;
        for (String key : entries.keySet()) {
            byte[] wanted = bytes(key);
            try {
                partition.find(wanted, wanted.length, false, hashOf(wanted), new PageWindow());
            } catch (UncheckedIOException e) {
                failed++;
                assertNames(e, partition);
            }
        }
        assertThat(failed).isPositive();
    }

    @Test
    void aMergeOrSnapshotOfIt_fails() throws IOException {
        SealedPartition partition = write(entries());
        shorten(partition, READABLE_PAGES);

        assertThatThrownBy(partition::check).satisfies(e -> assertNames(e, partition));
    }

    @Test
    void aHeaderThatCannotBeRead_isNotOpened() throws IOException {
        SealedPartition partition = write(entries());
        shorten(partition, 0);

        assertThatThrownBy(() -> new SealedPartition(partition.extent(), IDENTITY))
                .satisfies(e -> assertNames(e, partition));
    }
}
