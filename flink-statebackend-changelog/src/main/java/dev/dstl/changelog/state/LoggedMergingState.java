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

import dev.dstl.changelog.record.RecordSerializers;
import dev.dstl.changelog.record.StateLog;
import dev.dstl.log.api.RecordKind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import javax.annotation.Nullable;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.internal.InternalMergingState;

/**
 * A state to which values are added and whose namespaces can be merged. A merge is logged as its
 * result, so that replay needs no function of the job. Used by the task thread.
 *
 * @param <K> type of the key
 * @param <N> type of the namespace
 * @param <IN> type of what is added
 * @param <SV> type of the stored value
 * @param <OUT> type of what is read
 * @param <S> type of the delegate
 */
abstract class LoggedMergingState<
                K, N, IN, SV, OUT, S extends InternalMergingState<K, N, IN, SV, OUT>>
        extends LoggedState<K, N, SV, S> implements InternalMergingState<K, N, IN, SV, OUT> {

    LoggedMergingState(
            AbstractKeyedStateBackend<K> backend,
            StateLog log,
            S delegate,
            RecordSerializers<K, N, SV> serializers) {
        super(backend, log, delegate, serializers);
    }

    /** Writes the payload of a record that sets {@code value}. */
    abstract void writePayload(SV value, DataOutputView record) throws IOException;

    @Override
    public final OUT get() throws Exception {
        return delegate().get();
    }

    @Override
    public final SV getInternal() throws Exception {
        return delegate().getInternal();
    }

    /** Reports that a value could not be written; the job may have changed parts of it. */
    void notWritten(SV value, Throwable cause) {
        notWritten(getValueSerializer(), cause);
    }

    /** Writes a record of a value that the delegate is given next. */
    final void beginPut(SV value) throws Exception {
        DataOutputView record = beginRecord();
        try {
            writePayload(value, record);
        } catch (Throwable t) {
            notWritten(value, t);
            throw t;
        }
    }

    @Override
    public final void updateInternal(SV value) throws Exception {
        beginPut(value);
        setInDelegate(value);
    }

    /**
     * Replaces the value by what a function of the job has made of it. If that fails, the caller
     * logs what the delegate contains.
     */
    final void replace(SV value) throws Exception {
        writePayload(value, beginRecord());
        setInDelegate(value);
    }

    private void setInDelegate(SV value) throws Exception {
        try {
            delegate().updateInternal(value);
            append(RecordKind.PUT);
        } catch (Throwable t) {
            log().markIncomplete(t);
            throw t;
        }
    }

    @Override
    public final void mergeNamespaces(N target, Collection<N> sources) throws Exception {
        if (sources == null || sources.isEmpty()) {
            return;
        }
        Collection<N> from = readOnce(sources);
        try {
            merge(target, from);
        } finally {
            // delegates may leave any of the namespaces as the current one
            if (namespace() != null) {
                delegate().setCurrentNamespace(namespace());
            }
        }
    }

    private void merge(N target, Collection<N> sources) throws Exception {
        try {
            delegate().mergeNamespaces(target, sources);
        } catch (Throwable t) {
            // a function of the job threw, but some namespaces are merged
            try {
                for (N source : sources) {
                    if (source != null) {
                        logStored(source);
                    }
                }
                logStored(target);
            } catch (Throwable e) {
                log().markIncomplete(withEarlier(e, t));
            }
            throw t;
        }
        try {
            logMerge(target, sources);
        } catch (Throwable t) {
            log().markIncomplete(t);
            throw t;
        }
    }

    private void logMerge(N target, Collection<N> sources) throws Exception {
        K key = backend().getCurrentKey();
        for (N source : sources) {
            if (source != null) {
                beginRecord(key, source);
                append(RecordKind.DELETE);
            }
        }
        // after the sources, because the target may be one of them; nothing, if the job's function
        // has returned null
        logStored(target);
    }

    /** Adds null, whose meaning depends on the delegate. */
    final void addNull() throws Exception {
        Throwable failure = null;
        try {
            delegate().add(null);
        } catch (Throwable t) {
            failure = t;
            throw t;
        } finally {
            logStoredAfter(failure);
        }
    }

    /**
     * Logs what the delegate contains for the current key and namespace. If that fails, the
     * changelog is marked incomplete.
     *
     * @param failure failure of the preceding access, which its caller throws; null if there was
     *     none
     */
    final void logStoredAfter(@Nullable Throwable failure) throws Exception {
        try {
            logStored(namespace());
        } catch (Throwable t) {
            log().markIncomplete(withEarlier(t, failure));
            if (failure == null) {
                throw t;
            }
        }
    }

    private void logStored(N namespace) throws Exception {
        K key = backend().getCurrentKey();
        delegate().setCurrentNamespace(namespace);
        SV stored = delegate().getInternal();
        if (stored == null) {
            beginRecord(key, namespace);
            append(RecordKind.DELETE);
        } else {
            writePayload(stored, beginRecord(key, namespace));
            append(RecordKind.PUT);
        }
    }

    private static Throwable withEarlier(Throwable last, @Nullable Throwable earlier) {
        if (earlier != null && earlier != last) {
            last.addSuppressed(earlier);
        }
        return last;
    }

    /**
     * Returns a collection that shows delegate and changelog the same elements: a view of the job's
     * may change between reads, or fail.
     */
    static <T> Collection<T> readOnce(Collection<T> elements) {
        return elements.getClass() == ArrayList.class ? elements : new ArrayList<>(elements);
    }
}
