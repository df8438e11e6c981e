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

package dev.dstl.changelog.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.changelog.delegate.DelegateStates;
import dev.dstl.changelog.fixture.Delegate;
import dev.dstl.changelog.fixture.VersionedStringSerializer;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.Arrays;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer.IntSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.ListSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.MapSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.runtime.state.StateSnapshotTransformer.StateSnapshotTransformFactory;
import org.junit.jupiter.api.Test;

class StateRegistrationTest {

    private static final ClassLoader CLASSES = StateRegistrationTest.class.getClassLoader();

    @Test
    void valueState_comesBackWithAllThatItsDescriptorSaid() throws Exception {
        @SuppressWarnings("deprecation") // jobs may still give default values
        ValueStateDescriptor<String> descriptor =
                new ValueStateDescriptor<>("value", StringSerializer.INSTANCE, "default");
        descriptor.enableTimeToLive(StateTtlConfig.newBuilder(Duration.ofHours(7)).build());

        RestoredRegistration restored = read(bytesOf(descriptor));

        assertThat(restored.kind()).isEqualTo(StateKind.VALUE);
        assertThat(restored.name()).isEqualTo("value");
        assertThat(restored.keySerializerSnapshot()).isInstanceOf(IntSerializerSnapshot.class);
        assertThat(restored.namespaceSerializer()).isEqualTo(LongSerializer.INSTANCE);
        assertThat(restored.valueSerializer()).isEqualTo(StringSerializer.INSTANCE);
        assertThat(restored.timeToLive())
                .usingRecursiveComparison()
                .isEqualTo(descriptor.getTtlConfig());
        assertThat(restored.defaultValue()).isEqualTo("default");
    }

    @Test
    void listsAndMaps_comeBackWithSerializersOfTheWhole() throws Exception {
        RestoredRegistration list =
                read(bytesOf(new ListStateDescriptor<>("list", StringSerializer.INSTANCE)));
        RestoredRegistration map =
                read(
                        bytesOf(
                                new MapStateDescriptor<>(
                                        "map", StringSerializer.INSTANCE, IntSerializer.INSTANCE)));

        assertThat(list.kind()).isEqualTo(StateKind.LIST);
        assertThat(list.valueSerializer())
                .isEqualTo(new ListSerializer<>(StringSerializer.INSTANCE));
        assertThat(map.kind()).isEqualTo(StateKind.MAP);
        assertThat(map.valueSerializer())
                .isEqualTo(new MapSerializer<>(StringSerializer.INSTANCE, IntSerializer.INSTANCE));
        assertThat(map.timeToLive().isEnabled()).isFalse();
        assertThat(map.defaultValue()).isNull();
    }

    @Test
    void queue_comesBackWithItsElementSerializer() throws Exception {
        RestoredRegistration restored =
                read(
                        StateRegistration.ofQueue(
                                        "timers", IntSerializer.INSTANCE, LongSerializer.INSTANCE)
                                .toBytes());

        assertThat(restored.kind()).isEqualTo(StateKind.QUEUE);
        assertThat(restored.name()).isEqualTo("timers");
        assertThat(restored.namespaceSerializer()).isNull();
        assertThat(restored.valueSerializer()).isEqualTo(LongSerializer.INSTANCE);
    }

    @Test
    void aVersionFromTheFuture_saysWhichReleaseToUse() throws Exception {
        byte[] bytes = bytesOf(new ValueStateDescriptor<>("value", StringSerializer.INSTANCE));
        bytes[0] = 9;

        assertThatThrownBy(() -> read(bytes))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("version 1, found 9")
                .hasMessageContaining("newer release");
    }

    @Test
    void cutOffBytes_nameTheState() throws Exception {
        byte[] bytes = bytesOf(new ValueStateDescriptor<>("counter", StringSerializer.INSTANCE));

        assertThatThrownBy(() -> read(Arrays.copyOf(bytes, bytes.length / 2)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("state 'counter' (VALUE)");
    }

    @Test
    void aClassThatTheJobLost_namesTheStateAndTheRemedy() throws Exception {
        byte[] bytes =
                bytesOf(new ValueStateDescriptor<>("counter", new VersionedStringSerializer(1)));

        try (URLClassLoader flinkOnly = new FlinkOnlyClassLoader()) {
            assertThatThrownBy(
                            () ->
                                    StateRegistration.read(
                                            new DataInputDeserializer(bytes), flinkOnly))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("state 'counter' (VALUE)")
                    .hasMessageContaining("restore with a job that still has it");
        }
    }

    @Test
    void anUnknownKind_isNamed() {
        assertThatThrownBy(() -> read(new byte[] {1, 77}))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("Unknown state kind 77");
    }

    private static RestoredRegistration read(byte[] bytes) throws IOException {
        DataInputDeserializer source = new DataInputDeserializer(bytes);
        RestoredRegistration restored = StateRegistration.read(source, CLASSES);
        assertThat(source.available()).isZero();
        return restored;
    }

    private static <S extends State, V> byte[] bytesOf(StateDescriptor<S, V> descriptor)
            throws Exception {
        try (Delegate<Integer> delegate = Delegate.Kind.HASH_MAP.create(IntSerializer.INSTANCE)) {
            return StateRegistration.ofState(
                            descriptor,
                            RecordSerializers.of(
                                    DelegateStates.register(
                                            delegate.backend(),
                                            LongSerializer.INSTANCE,
                                            descriptor,
                                            StateSnapshotTransformFactory.noTransform(),
                                            false)))
                    .toBytes();
        }
    }

    /** A class loader with Flink, but without the classes of this job. */
    private static final class FlinkOnlyClassLoader extends URLClassLoader {

        FlinkOnlyClassLoader() {
            super(new URL[0], CLASSES);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.startsWith("dev.dstl.changelog.fixture")) {
                throw new ClassNotFoundException(name);
            }
            return super.loadClass(name, resolve);
        }
    }
}
