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

package dev.dstl.benchmarks.simulated;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.benchmarks.simulated.store.RequestCounts;
import dev.dstl.benchmarks.simulated.store.RequestOutcome;
import dev.dstl.benchmarks.simulated.store.RequestPlan;
import dev.dstl.benchmarks.simulated.store.RequestType;
import dev.dstl.benchmarks.simulated.store.SimulatedFailure;
import dev.dstl.benchmarks.simulated.store.SimulatedObjectStore;
import dev.dstl.benchmarks.simulated.store.StoreProfile;
import dev.dstl.benchmarks.simulated.store.VirtualTime;
import java.io.EOFException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem.WriteMode;
import org.apache.flink.core.fs.Path;
import org.junit.jupiter.api.Test;

class SimulatedFileSystemTest {

    private static final Path FILE = new Path("sim://bench/dir/file");

    private final VirtualTime time = new VirtualTime();
    private final SimulatedObjectStore store =
            SimulatedStores.inMemory(StoreProfile.builder().tail(1.0, 40).build(), time);
    private final SimulatedFileSystem fileSystem = SimulatedStores.fileSystem("bench", store);

    @Test
    void write_isOnePutInClose_andVisibleOnlyAfterIt() throws IOException {
        FSDataOutputStream out = fileSystem.create(FILE, WriteMode.OVERWRITE);
        out.write("hello".getBytes(UTF_8));
        out.write('!');
        out.flush();
        out.sync();
        assertThat(out.getPos()).isEqualTo(6);
        assertThat(store.counts()).isEqualTo(RequestCounts.none());
        assertThat(time.nanoTime()).isZero();

        out.close();

        assertThat(store.counts().requests()).isEqualTo(1);
        assertThat(store.counts().requests(RequestType.PUT)).isEqualTo(1);
        assertThat(time.nanoTime()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(40));
        assertThat(read(FILE)).isEqualTo("hello!");
    }

    @Test
    void closeThatFails_leavesNothing_andASecondCloseDoesNotTryAgain() throws IOException {
        store.script(RequestType.PUT, RequestPlan.of(RequestOutcome.FAILED, 1));
        FSDataOutputStream out = fileSystem.create(FILE, WriteMode.OVERWRITE);
        out.write(1);

        assertThatThrownBy(out::close).isInstanceOf(SimulatedFailure.class);
        out.close();

        assertThat(store.counts().requests(RequestType.PUT)).isEqualTo(1);
        assertThat(fileSystem.exists(FILE)).isFalse();
    }

    @Test
    void writeAfterClose_isAnError() throws IOException {
        FSDataOutputStream out = fileSystem.create(FILE, WriteMode.OVERWRITE);
        out.close();

        assertThatThrownBy(() -> out.write(1))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("dir/file");
    }

    @Test
    void createWithoutOverwrite_asksFirstAndRefusesAnExistingObject() throws IOException {
        write(FILE, "first");
        RequestCounts before = store.counts();

        assertThatThrownBy(() -> fileSystem.create(FILE, WriteMode.NO_OVERWRITE))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(FILE.toString());

        assertThat(store.counts().minus(before).requests(RequestType.HEAD)).isEqualTo(1);
    }

    @Test
    void open_sendsOneGetAtTheFirstRead_fromWhereItWasSoughtTo() throws IOException {
        write(FILE, "0123456789");
        RequestCounts before = store.counts();
        try (FSDataInputStream in = fileSystem.open(FILE)) {
            in.seek(6);
            assertThat(store.counts()).isEqualTo(before);

            assertThat(in.read()).isEqualTo('6');
            assertThat(in.readAllBytes()).isEqualTo("789".getBytes(UTF_8));
            assertThat(in.getPos()).isEqualTo(10);
        }
        RequestCounts sent = store.counts().minus(before);
        assertThat(sent.requests()).isEqualTo(1);
        assertThat(sent.bytesRead()).isEqualTo(4);
    }

    @Test
    void seek_forwardReadsOn_andBackwardOrFarSendsAnotherGet() throws IOException {
        write(FILE, "0123456789".repeat(10_000));
        RequestCounts before = store.counts();
        try (FSDataInputStream in = fileSystem.open(FILE)) {
            assertThat(in.read()).isEqualTo('0');
            in.seek(55);
            assertThat(in.read()).isEqualTo('5');
            assertThat(store.counts().minus(before).requests()).isEqualTo(1);

            in.seek(3);
            assertThat(in.read()).isEqualTo('3');
            in.seek(99_999);
            assertThat(in.read()).isEqualTo('9');
            assertThat(in.read()).isEqualTo(-1);
        }
        assertThat(store.counts().minus(before).requests()).isEqualTo(3);
    }

    @Test
    void seekBehindTheEnd_readsNothing_andBeforeTheStartIsAnError() throws IOException {
        write(FILE, "abc");
        try (FSDataInputStream in = fileSystem.open(FILE)) {
            in.seek(7);
            assertThat(in.read()).isEqualTo(-1);
            assertThatThrownBy(() -> in.seek(-1)).isInstanceOf(EOFException.class);
        }
    }

    @Test
    void missingFile_showsAtTheFirstRead() throws IOException {
        try (FSDataInputStream in = fileSystem.open(FILE)) {
            assertThatThrownBy(in::read)
                    .isInstanceOf(FileNotFoundException.class)
                    .hasMessageContaining("dir/file");
        }
    }

    @Test
    void deleteOfAnObject_isOneRequest() throws IOException {
        write(FILE, "x");
        RequestCounts before = store.counts();

        assertThat(fileSystem.delete(FILE, false)).isTrue();

        RequestCounts sent = store.counts().minus(before);
        assertThat(sent.requests()).isEqualTo(1);
        assertThat(sent.requests(RequestType.DELETE)).isEqualTo(1);
    }

    @Test
    void recursiveDelete_sparesNeighboursWhoseNameBeginsTheSame() throws IOException {
        write(FILE, "x");
        write(new Path("sim://bench/dir/sub/y"), "y");
        write(new Path("sim://bench/directory"), "z");

        assertThat(fileSystem.delete(new Path("sim://bench/dir"), true)).isTrue();

        assertThat(children("sim://bench/")).isEqualTo("directory");
    }

    @Test
    void mkdirs_sendsNoRequest() {
        assertThat(fileSystem.mkdirs(new Path("sim://bench/new/dir"))).isTrue();

        assertThat(store.counts()).isEqualTo(RequestCounts.none());
    }

    @Test
    void listStatus_showsObjectsAndPrefixesOfOneLevel() throws IOException {
        write(FILE, "hello");
        write(new Path("sim://bench/dir/sub/x"), "1");
        write(new Path("sim://bench/dir/sub/y"), "2");
        RequestCounts before = store.counts();

        FileStatus[] found = fileSystem.listStatus(new Path("sim://bench/dir"));

        assertThat(store.counts().minus(before).requests()).isEqualTo(1);
        assertThat(found).hasSize(2);
        assertThat(found[0].getPath()).isEqualTo(FILE);
        assertThat(found[0].getLen()).isEqualTo(5);
        assertThat(found[0].isDir()).isFalse();
        assertThat(found[1].getPath()).isEqualTo(new Path("sim://bench/dir/sub"));
        assertThat(found[1].isDir()).isTrue();
    }

    @Test
    void rename_movesAnObjectAndAllUnderAPrefix() throws IOException {
        write(FILE, "hello");
        write(new Path("sim://bench/dir/sub/x"), "1");

        assertThat(fileSystem.rename(new Path("sim://bench/dir"), new Path("sim://bench/new")))
                .isTrue();

        assertThat(children("sim://bench/")).isEqualTo("new");
        assertThat(children("sim://bench/new")).isEqualTo("file sub");
        assertThat(read(new Path("sim://bench/new/file"))).isEqualTo("hello");
    }

    @Test
    void rootOfTheStore_isADirectoryAndCannotBeWritten() throws IOException {
        Path root = new Path("sim://bench/");

        assertThat(fileSystem.getFileStatus(root).isDir()).isTrue();
        assertThatThrownBy(() -> fileSystem.create(root, WriteMode.OVERWRITE))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("root");
    }

    private void write(Path path, String text) throws IOException {
        try (FSDataOutputStream out = fileSystem.create(path, WriteMode.OVERWRITE)) {
            out.write(text.getBytes(UTF_8));
        }
    }

    private String read(Path path) throws IOException {
        try (FSDataInputStream in = fileSystem.open(path)) {
            return new String(in.readAllBytes(), UTF_8);
        }
    }

    private String children(String directory) throws IOException {
        return Arrays.stream(fileSystem.listStatus(new Path(directory)))
                .map(status -> status.getPath().getName())
                .collect(Collectors.joining(" "));
    }
}
