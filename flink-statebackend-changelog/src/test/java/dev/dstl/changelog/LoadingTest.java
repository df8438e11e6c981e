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

package dev.dstl.changelog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.changelog.config.MisconfigurationException;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.tools.ToolProvider;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.contrib.streaming.state.EmbeddedRocksDBStateBackend;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.StateBackendLoader;
import org.apache.flink.runtime.state.changelog.ChangelogStateBackendHandle.ChangelogStateBackendHandleImpl;
import org.apache.flink.runtime.state.delegate.DelegatingStateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.state.changelog.ChangelogStateBackend;
import org.apache.flink.state.changelog.DeactivatedChangelogStateBackend;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** All ways in which Flink loads the changelog state backend. */
class LoadingTest {

    private static final ClassLoader CLASS_LOADER = LoadingTest.class.getClassLoader();

    @TempDir private Path directory;

    private final Configuration job = new Configuration();
    private final Configuration cluster = new Configuration();

    @Test
    void flag_wrapsTheConfiguredBackend() throws Exception {
        cluster.setString("state.changelog.enabled", "true");
        cluster.setString("state.backend.type", "rocksdb");

        StateBackend backend = load(null);

        assertThat(backend).isExactlyInstanceOf(ChangelogStateBackend.class);
        assertThat(delegateOf(backend)).isInstanceOf(EmbeddedRocksDBStateBackend.class);
        assertThat(backend.useManagedMemory()).isTrue();
        assertThat(backend.supportsNoClaimRestoreMode()).isTrue();
    }

    @Test
    void deprecatedFlag_works() throws Exception {
        job.setString("state.backend.changelog.enabled", "true");

        assertThat(load(null)).isExactlyInstanceOf(ChangelogStateBackend.class);
    }

    @Test
    void facade_becomesTheClassThatFlinkKnowsByName() throws Exception {
        DstlStateBackend facade =
                InstantiationUtil.clone(
                        new DstlStateBackend(new EmbeddedRocksDBStateBackend(true)));
        assertThat(facade.useManagedMemory()).as("asked on the client").isTrue();

        StateBackend backend = load(facade);

        assertThat(StateBackendLoader.isChangelogStateBackend(backend)).isTrue();
        assertThat(delegateOf(backend)).isInstanceOf(EmbeddedRocksDBStateBackend.class);
    }

    @Test
    void flagAndFacade_wrapOnce() throws Exception {
        cluster.setString("state.changelog.enabled", "true");

        StateBackend backend = load(new DstlStateBackend(new HashMapStateBackend()));

        assertThat(backend).isExactlyInstanceOf(ChangelogStateBackend.class);
        assertThat(delegateOf(backend)).isInstanceOf(HashMapStateBackend.class);
    }

    @Test
    void factory_takesItsDelegateFromTheConfiguration() throws Exception {
        job.setString("state.backend.type", "dev.dstl.changelog.DstlStateBackendFactory");
        job.setString("state.changelog.dstl.delegate", "hashmap");

        StateBackend backend = load(null);

        assertThat(backend).isExactlyInstanceOf(ChangelogStateBackend.class);
        assertThat(delegateOf(backend)).isInstanceOf(HashMapStateBackend.class);
    }

    @Test
    void factory_usesRocksDbIfNothingElseIsSaid() throws Exception {
        job.setString("state.backend.type", DstlStateBackendFactory.class.getName());

        assertThat(delegateOf(load(null))).isInstanceOf(EmbeddedRocksDBStateBackend.class);
    }

    @Test
    void factoryThatIsItsOwnDelegate_isMisuse() {
        job.setString("state.backend.type", DstlStateBackendFactory.class.getName());
        job.setString("state.changelog.dstl.delegate", DstlStateBackendFactory.class.getName());

        assertThatThrownBy(() -> load(null))
                .isInstanceOf(MisconfigurationException.class)
                .hasMessage(
                        "'state.changelog.dstl.delegate:"
                                + " dev.dstl.changelog.DstlStateBackendFactory' names the changelog"
                                + " backend itself; set it to 'rocksdb' or 'hashmap'.");
    }

    @Test
    void unknownDelegate_isMisuse() {
        job.setString("state.backend.type", DstlStateBackendFactory.class.getName());
        job.setString("state.changelog.dstl.delegate", "rocks");

        assertThatThrownBy(() -> load(null))
                .isInstanceOf(MisconfigurationException.class)
                .hasMessageStartingWith("'state.changelog.dstl.delegate: rocks' names no state")
                .hasMessageContaining("set it to 'rocksdb', 'hashmap'");
    }

    @Test
    void facadeOverALogInMemory_isRefusedAtSubmission_ifCheckpointsAreInFiles() {
        cluster.setString("execution.checkpointing.dir", directory.toUri().toString());
        DstlStateBackend facade = new DstlStateBackend(new HashMapStateBackend());

        assertThatThrownBy(() -> load(facade))
                .isInstanceOf(MisconfigurationException.class)
                .hasMessageStartingWith(
                        "'state.changelog.storage: memory' keeps the changelog in memory")
                .hasMessageContaining("set it to 'dstl'");
    }

    @Test
    void facadeOverALogInMemory_isFine_ifCheckpointsAreInMemoryToo() throws Exception {
        cluster.setString("execution.checkpointing.dir", directory.toUri().toString());
        cluster.setString("execution.checkpointing.storage", "jobmanager");

        assertThat(load(new DstlStateBackend(new HashMapStateBackend())))
                .isExactlyInstanceOf(ChangelogStateBackend.class);
    }

    @Test
    void restoredChangelogHandles_makeFlinkWrapAPlainBackend() throws Exception {
        KeyedStateHandle handle =
                new ChangelogStateBackendHandleImpl(
                        List.of(), List.of(), KeyGroupRange.of(0, 1), 1, 1, 0);

        StateBackend plain =
                StateBackendLoader.loadStateBackendFromKeyedStateHandles(
                        new HashMapStateBackend(), CLASS_LOADER, List.of(handle));
        StateBackend dstl =
                StateBackendLoader.loadStateBackendFromKeyedStateHandles(
                        load(new DstlStateBackend(new HashMapStateBackend())),
                        CLASS_LOADER,
                        List.of(handle));

        assertThat(plain).isExactlyInstanceOf(DeactivatedChangelogStateBackend.class);
        assertThat(dstl).isExactlyInstanceOf(ChangelogStateBackend.class);
    }

    @Test
    void jarsOnlyInTheJobJar_areOneSentenceThatSaysWhereTheyBelong() throws Exception {
        ClassLoader foreign = classLoaderWithForeignShim();
        DstlStateBackend facade = new DstlStateBackend(new HashMapStateBackend());

        assertThatThrownBy(() -> facade.configure(cluster, foreign))
                .isInstanceOf(MisconfigurationException.class)
                .hasMessageStartingWith("The changelog backend file:")
                .hasMessageContaining(
                        "cannot run because Flink would not load its class"
                                + " org.apache.flink.state.changelog.ChangelogStateBackend (it"
                                + " comes from file:")
                .hasMessageEndingWith(
                        "; put dstl-flink-1.20-<version>.jar into lib/ of every Flink process, and"
                                + " mark it 'provided' in the job.");
        assertThatThrownBy(() -> facade.configure(cluster, new URLClassLoader(new URL[0], null)))
                .isInstanceOf(MisconfigurationException.class)
                .hasMessageContaining("(there is no such class at all)");
    }

    @Test
    void moduleOfTheStateBackendAlone_isOneSentenceThatSaysWhatIsMissing() throws Exception {
        Constructor<?> shim =
                classLoaderWithoutStorage()
                        .loadClass(ChangelogStateBackend.class.getName())
                        .getConstructor(StateBackend.class);

        assertThatThrownBy(() -> shim.newInstance(new HashMapStateBackend()))
                .cause()
                .isInstanceOf(IllegalConfigurationException.class)
                .hasMessageStartingWith("The changelog state backend is DSTL's, from file:")
                .hasMessageContaining("but without the changelog storage (dev/dstl/log/")
                .hasMessageContaining("; put dstl-flink-<line>-<version>.jar into lib/");
    }

    private StateBackend load(StateBackend fromApplication) throws Exception {
        return StateBackendLoader.fromApplicationOrConfigOrDefault(
                fromApplication, job, cluster, CLASS_LOADER, null);
    }

    private static StateBackend delegateOf(StateBackend backend) {
        return ((DelegatingStateBackend) backend).getDelegatedStateBackend();
    }

    /** Returns a class loader with Flink and the module of the state backend. */
    private static ClassLoader classLoaderWithoutStorage() {
        ClassLoader withoutDstl =
                new ClassLoader(null) {
                    @Override
                    protected Class<?> findClass(String name) throws ClassNotFoundException {
                        if (name.startsWith("dev.dstl.")
                                || name.startsWith("org.apache.flink.state.changelog.")) {
                            throw new ClassNotFoundException(name);
                        }
                        return CLASS_LOADER.loadClass(name);
                    }
                };
        URL module =
                ChangelogStateBackend.class.getProtectionDomain().getCodeSource().getLocation();
        return new URLClassLoader(new URL[] {module}, withoutDstl);
    }

    /** Returns a class loader whose class of the shim's name is not DSTL's, as in flink-dist. */
    private ClassLoader classLoaderWithForeignShim() throws IOException {
        Path source = directory.resolve("ChangelogStateBackend.java");
        Files.writeString(
                source,
                "package org.apache.flink.state.changelog; public class ChangelogStateBackend {}");
        assertThat(
                        ToolProvider.getSystemJavaCompiler()
                                .run(
                                        null,
                                        null,
                                        null,
                                        "-d",
                                        directory.toString(),
                                        source.toString()))
                .isZero();
        return new URLClassLoader(new URL[] {directory.toUri().toURL()}, null);
    }
}
