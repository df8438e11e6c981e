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

import dev.dstl.changelog.record.StateLog;
import dev.dstl.log.api.RecordKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.Collections;
import java.util.Set;
import javax.annotation.Nonnegative;
import javax.annotation.Nonnull;
import javax.annotation.Nullable;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.state.KeyExtractorFunction;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.Keyed;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.ExceptionUtils;

/**
 * A timer queue that is also logged. A record has the key group of its timer's key, since queues
 * also change while another key, or none, is current. Used by the task thread.
 *
 * @param <T> type of the timers
 */
final class LoggedPriorityQueue<T extends Keyed<?>> implements KeyGroupedInternalPriorityQueue<T> {

    private final StateLog log;
    private final int numberOfKeyGroups;
    private final KeyExtractorFunction<T> keyOf = KeyExtractorFunction.forKeyedObjects();
    private KeyGroupedInternalPriorityQueue<T> delegate;
    private TypeSerializer<T> elementSerializer;

    LoggedPriorityQueue(
            StateLog log,
            int numberOfKeyGroups,
            KeyGroupedInternalPriorityQueue<T> delegate,
            TypeSerializer<T> elementSerializer) {
        this.log = log;
        this.numberOfKeyGroups = numberOfKeyGroups;
        rebind(delegate, elementSerializer);
    }

    /**
     * Replaces delegate and serializer after the job has registered the queue again. The serializer
     * is copied: it contains that of the keys, which another thread may be using.
     */
    final void rebind(
            KeyGroupedInternalPriorityQueue<T> delegate, TypeSerializer<T> elementSerializer) {
        this.delegate = delegate;
        this.elementSerializer = elementSerializer.duplicate();
    }

    StateLog log() {
        return log;
    }

    /** Logs every element as if it were added now. */
    @SuppressWarnings("try") // close() is declared with Exception by Flink's interface
    void relog() throws IOException {
        try (CloseableIterator<T> elements = delegate.iterator()) {
            while (elements.hasNext()) {
                T element = elements.next();
                begin(element);
                append(RecordKind.PUT, element);
            }
        } catch (Exception e) {
            throw new IOException("Cannot record all timers again: " + log, e);
        }
    }

    @Nullable
    @Override
    public T poll() {
        T head = delegate.peek();
        if (head == null) {
            return delegate.poll();
        }
        try {
            begin(head);
        } catch (IOException e) {
            throw failure(e);
        }
        try {
            T polled = delegate.poll();
            append(RecordKind.DELETE, head);
            return polled;
        } catch (Throwable t) {
            throw incomplete(t);
        }
    }

    @Nullable
    @Override
    public T peek() {
        return delegate.peek();
    }

    @Override
    public boolean add(@Nonnull T toAdd) {
        try {
            begin(toAdd);
        } catch (IOException e) {
            throw failure(e);
        }
        try {
            boolean headChanged = delegate.add(toAdd);
            append(RecordKind.PUT, toAdd);
            return headChanged;
        } catch (Throwable t) {
            throw incomplete(t);
        }
    }

    @Override
    public boolean remove(@Nonnull T toRemove) {
        try {
            begin(toRemove);
        } catch (IOException e) {
            throw failure(e);
        }
        try {
            boolean headChanged = delegate.remove(toRemove);
            append(RecordKind.DELETE, toRemove);
            return headChanged;
        } catch (Throwable t) {
            throw incomplete(t);
        }
    }

    @Override
    public void addAll(@Nullable Collection<? extends T> toAdd) {
        if (toAdd == null) {
            return;
        }
        for (T element : toAdd) {
            add(element);
        }
    }

    @Override
    public boolean isEmpty() {
        return delegate.isEmpty();
    }

    @Nonnegative
    @Override
    public int size() {
        return delegate.size();
    }

    @Nonnull
    @Override
    public CloseableIterator<T> iterator() {
        return new LoggedQueueIterator(delegate.iterator());
    }

    @Nonnull
    @Override
    public Set<T> getSubsetForKeyGroup(int keyGroupId) {
        return Collections.unmodifiableSet(delegate.getSubsetForKeyGroup(keyGroupId));
    }

    private void begin(T element) throws IOException {
        DataOutputSerializer record = log.beginRecord();
        elementSerializer.serialize(element, record);
        log.endKeyPrefix();
    }

    private void append(RecordKind kind, T element) throws IOException {
        log.append(
                kind,
                KeyGroupRangeAssignment.assignToKeyGroup(
                        keyOf.extractKeyFromElement(element), numberOfKeyGroups));
    }

    /**
     * Marks the changelog incomplete: it is unknown what reached the delegate, or it could not be
     * logged.
     */
    private RuntimeException incomplete(Throwable cause) {
        log.markIncomplete(cause);
        if (cause instanceof IOException) {
            return failure((IOException) cause);
        }
        ExceptionUtils.rethrow(cause);
        throw new AssertionError(cause);
    }

    private UncheckedIOException failure(IOException cause) {
        return new UncheckedIOException("Cannot record a timer: " + log, cause);
    }

    @SuppressWarnings("try") // close() is declared with Exception by Flink's interface
    private final class LoggedQueueIterator implements CloseableIterator<T> {

        private final CloseableIterator<T> elements;
        @Nullable private T current;

        private LoggedQueueIterator(CloseableIterator<T> elements) {
            this.elements = elements;
        }

        @Override
        public boolean hasNext() {
            return elements.hasNext();
        }

        @Override
        public T next() {
            current = elements.next();
            return current;
        }

        @Override
        public void remove() {
            if (current == null) {
                throw new IllegalStateException("remove() needs a next() before it");
            }
            try {
                begin(current);
            } catch (IOException e) {
                throw failure(e);
            }
            try {
                elements.remove();
                append(RecordKind.DELETE, current);
            } catch (UnsupportedOperationException nothingHappened) {
                throw nothingHappened;
            } catch (Throwable t) {
                throw incomplete(t);
            }
        }

        @Override
        public void close() throws Exception {
            elements.close();
        }
    }
}
