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

package dev.dstl.changelog.state;

import dev.dstl.changelog.delegate.DelegateStates;
import dev.dstl.changelog.record.RecordSerializers;
import dev.dstl.changelog.record.StateLog;
import dev.dstl.changelog.record.ValueWriter;
import dev.dstl.log.api.RecordKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import javax.annotation.Nullable;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.internal.InternalKvState;

/**
 * A keyed state that is also logged. If the new value is known before the delegate changes, its
 * record is built first, so that a serializer that throws leaves delegate and changelog unchanged.
 * The job may catch the exception of an access, so an access that may have changed the delegate
 * only in part, or whose value the job may have changed inside the delegate, either logs the
 * resulting value or marks the changelog incomplete. Used by the task thread, except for {@link
 * #getSerializedValue}.
 *
 * @param <K> type of the key
 * @param <N> type of the namespace
 * @param <SV> type of the stored value
 * @param <S> type of the delegate
 */
abstract class LoggedState<K, N, SV, S extends InternalKvState<K, N, SV>>
        implements InternalKvState<K, N, SV> {

    private final AbstractKeyedStateBackend<K> backend;
    private final StateLog log;
    private final boolean delegateMayKeepObjects;
    private S delegate;
    private ValueWriter<K> keys;
    private ValueWriter<N> namespaces;
    @Nullable private N namespace;

    LoggedState(
            AbstractKeyedStateBackend<K> backend,
            StateLog log,
            S delegate,
            RecordSerializers<K, N, SV> serializers) {
        this.backend = backend;
        this.log = log;
        this.delegateMayKeepObjects = DelegateStates.mayKeepObjects(backend);
        setDelegate(delegate, serializers);
    }

    /**
     * Replaces the delegate's state, serializers and functions after the job has registered the
     * state again.
     */
    abstract void rebind(
            InternalKvState<K, N, SV> delegate,
            RecordSerializers<K, N, SV> serializers,
            StateDescriptor<?, ?> descriptor);

    final void setDelegate(S delegate, RecordSerializers<K, N, SV> serializers) {
        this.delegate = delegate;
        this.keys = new ValueWriter<>(serializers.keys());
        this.namespaces = new ValueWriter<>(serializers.namespaces());
        if (namespace != null) {
            delegate.setCurrentNamespace(namespace);
        }
    }

    final S delegate() {
        return delegate;
    }

    final AbstractKeyedStateBackend<K> backend() {
        return backend;
    }

    final StateLog log() {
        return log;
    }

    @Nullable
    final N namespace() {
        return namespace;
    }

    /** Returns the kind of the record that clears the state. */
    RecordKind clearing() {
        return RecordKind.DELETE;
    }

    /** Called after the delegate was cleared. */
    void cleared() {}

    /** Starts a record of the current key and namespace; the payload follows. */
    final DataOutputSerializer beginRecord() throws IOException {
        return beginRecord(backend.getCurrentKey(), namespace);
    }

    final DataOutputSerializer beginRecord(@Nullable K key, @Nullable N namespace)
            throws IOException {
        if (key == null || namespace == null) {
            throw new NullPointerException(
                    (key == null ? "No key" : "No namespace")
                            + " is set: keyed state can only be changed while a record or a timer"
                            + " of a key is processed ("
                            + log
                            + ")");
        }
        DataOutputSerializer record = log.beginRecord();
        keys.write(key, record);
        namespaces.write(namespace, record);
        log.endKeyPrefix();
        return record;
    }

    /** Appends the record to the key group of the current key. */
    final void append(RecordKind kind) throws IOException {
        log.append(kind, backend.getCurrentKeyGroupIndex());
    }

    @Override
    public final void clear() {
        try {
            beginRecord();
        } catch (IOException e) {
            throw notLogged(e);
        }
        try {
            delegate.clear();
            append(clearing());
            cleared();
        } catch (IOException e) {
            throw notLogged(e);
        } catch (Throwable t) {
            log.markIncomplete(t);
            throw t;
        }
    }

    private UncheckedIOException notLogged(IOException cause) {
        return new UncheckedIOException("Cannot record that a state was cleared: " + log, cause);
    }

    /**
     * Reports that a value could not be written. The job may have changed parts of it that belong
     * to the value that the delegate keeps: the next checkpoint is a full one then.
     */
    final void notWritten(TypeSerializer<?> serializer, Throwable cause) {
        if (delegateMayKeepObjects && !serializer.isImmutableType()) {
            log.markIncomplete(cause);
        }
    }

    @Override
    public final TypeSerializer<K> getKeySerializer() {
        return delegate.getKeySerializer();
    }

    @Override
    public final TypeSerializer<N> getNamespaceSerializer() {
        return delegate.getNamespaceSerializer();
    }

    @Override
    public final TypeSerializer<SV> getValueSerializer() {
        return delegate.getValueSerializer();
    }

    @Override
    public final void setCurrentNamespace(N namespace) {
        this.namespace = namespace;
        delegate.setCurrentNamespace(namespace);
    }

    @Override
    public final byte[] getSerializedValue(
            byte[] serializedKeyAndNamespace,
            TypeSerializer<K> safeKeySerializer,
            TypeSerializer<N> safeNamespaceSerializer,
            TypeSerializer<SV> safeValueSerializer)
            throws Exception {
        return delegate.getSerializedValue(
                serializedKeyAndNamespace,
                safeKeySerializer,
                safeNamespaceSerializer,
                safeValueSerializer);
    }

    /**
     * Not logged: the iterator removes expired entries only, which are expired after a replay as
     * well.
     */
    @Override
    public StateIncrementalVisitor<K, N, SV> getStateIncrementalVisitor(
            int recommendedMaxNumberOfReturnedRecords) {
        return delegate.getStateIncrementalVisitor(recommendedMaxNumberOfReturnedRecords);
    }
}
