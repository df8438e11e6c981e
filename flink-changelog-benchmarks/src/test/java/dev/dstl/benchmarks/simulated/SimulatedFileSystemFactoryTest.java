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
import dev.dstl.benchmarks.simulated.store.RequestType;
import dev.dstl.benchmarks.simulated.store.SimulatedObjectStore;
import dev.dstl.benchmarks.simulated.store.StoreProfile;
import dev.dstl.benchmarks.simulated.store.VirtualTime;
import java.io.IOException;
import java.util.UUID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.FileSystem.WriteMode;
import org.apache.flink.core.fs.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SimulatedFileSystemFactoryTest {

    private final String authority = "store-" + UUID.randomUUID();
    private final Path file = new Path("sim://" + authority + "/dir/file");

    @TempDir java.nio.file.Path directory;

    @AfterEach
    void forgetStores() {
        SimulatedStores.unregister(authority);
        FileSystem.initialize(new Configuration(), null);
    }

    @Test
    void scheme_isFoundByFlinkWithoutAnyConfiguration() throws IOException {
        write("hello");

        assertThat(read()).isEqualTo("hello");
        assertThat(FileSystem.getUnguardedFileSystem(file.toUri()))
                .isInstanceOf(SimulatedFileSystem.class);
    }

    @Test
    void objectsInMemory_surviveThatFlinkIsConfiguredAnew() throws IOException {
        write("hello");

        FileSystem.initialize(new Configuration(), null);

        assertThat(read()).isEqualTo("hello");
    }

    @Test
    void registeredStore_isUsedWhateverTheConfigurationSays() throws IOException {
        SimulatedObjectStore store =
                SimulatedStores.inMemory(StoreProfile.instant(), new VirtualTime());
        SimulatedStores.register(authority, store);
        FileSystem.initialize(configuration("sim.latency.tail.fraction", "0.5"), null);

        write("hello");

        assertThat(store.counts().requests(RequestType.PUT)).isEqualTo(1);
    }

    @Test
    void authorityRegisteredTwice_isRefused() {
        SimulatedObjectStore store =
                SimulatedStores.inMemory(StoreProfile.instant(), new VirtualTime());
        SimulatedStores.register(authority, store);

        assertThatThrownBy(() -> SimulatedStores.register(authority, store))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(authority);
    }

    @Test
    void keys_setTheProfile_andTheStoresOwnKeysWin() throws IOException {
        Configuration configuration = configuration("sim.latency.p50", "30 ms");
        configuration.setString("sim.latency.p99", "150 ms");
        configuration.setString("sim.latency.tail", "3 s");
        configuration.setString("sim.latency.tail.fraction", "0.002");
        configuration.setString("sim.bandwidth", "90 mb");
        configuration.setString("sim.seed", "5");
        configuration.setString("sim.throttle.requests-per-second", "100");
        configuration.setString("sim.throttle.fraction", "0.01");
        configuration.setString("sim.failure.fraction", "0.02");
        configuration.setString("sim.lost-acknowledgement.fraction", "0.03");
        configuration.setString("sim.store." + authority + ".latency.p50", "20 ms");
        configuration.setString("sim.store.another.latency.p50", "10 ms");

        assertThat(profile(configuration))
                .isEqualTo(
                        StoreProfile.builder()
                                .seed(5)
                                .latencyMillis(20, 150)
                                .tail(0.002, 3000)
                                .bytesPerSecond(90L << 20)
                                .requestsPerSecond(100)
                                .throttledFraction(0.01)
                                .failedFraction(0.02)
                                .lostAcknowledgementFraction(0.03)
                                .build());
    }

    @Test
    void misspeltKey_isRefusedWithTheKnownOnes() {
        assertThatThrownBy(() -> profile(configuration("sim.latncy.p50", "30 ms")))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageContainingAll("sim.latncy.p50", "sim.latency.p50");
    }

    @Test
    void valueOutOfRange_isRefused() {
        assertThatThrownBy(() -> profile(configuration("sim.throttle.fraction", "2")))
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageContainingAll("throttled", "2.0", "sim.*");
    }

    @Test
    void storeAskedForAgainWithOtherKeys_isRefusedInsteadOfKeepingTheOldProfile()
            throws IOException {
        write("hello");
        FileSystem.initialize(configuration("sim.seed", "8"), null);

        assertThatThrownBy(() -> file.getFileSystem())
                .isInstanceOf(IOException.class)
                .hasMessageContainingAll(authority, "sim.seed", "8");
    }

    @Test
    void uriWithoutAStore_isRefusedWithTheFix() {
        assertThatThrownBy(() -> FileSystem.getUnguardedFileSystem(new Path("sim:///x").toUri()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("sim://<name of the store>/<path>");
    }

    @Test
    void directory_sharesObjectsAndCountsWithAnotherProcess() throws Exception {
        Process writer =
                new ProcessBuilder(
                                java.nio.file.Path.of(
                                                System.getProperty("java.home"), "bin", "java")
                                        .toString(),
                                "-cp",
                                System.getProperty("java.class.path"),
                                StoreWriterProcess.class.getName(),
                                directory.toString(),
                                file.toString())
                        .inheritIO()
                        .start();
        assertThat(writer.waitFor()).isZero();
        StoreDirectory shared = new StoreDirectory(directory, authority);
        assertThat(shared.counts().requests(RequestType.PUT)).isEqualTo(1);

        FileSystem.initialize(configuration("sim.directory", directory.toString()), null);

        assertThat(read()).isEqualTo("from another process");
        RequestCounts counts = shared.counts();
        assertThat(counts.requests(RequestType.PUT)).isEqualTo(1);
        assertThat(counts.requests(RequestType.GET)).isEqualTo(1);
    }

    private static Configuration configuration(String key, String value) {
        Configuration configuration = new Configuration();
        configuration.setString(key, value);
        return configuration;
    }

    private StoreProfile profile(Configuration configuration) throws IOException {
        FileSystem.initialize(configuration, null);
        return ((SimulatedFileSystem) file.getFileSystem()).store().profile();
    }

    private void write(String text) throws IOException {
        try (FSDataOutputStream out = file.getFileSystem().create(file, WriteMode.OVERWRITE)) {
            out.write(text.getBytes(UTF_8));
        }
    }

    private String read() throws IOException {
        try (FSDataInputStream in = file.getFileSystem().open(file)) {
            return new String(in.readAllBytes(), UTF_8);
        }
    }
}
