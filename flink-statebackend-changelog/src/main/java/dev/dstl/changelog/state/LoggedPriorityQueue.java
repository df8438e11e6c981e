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
import org.apache.flink.runtime.state.heap.HeapPriorityQueueSet;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.ExceptionUtils;

/**
 * A timer queue that is also logged. A record has the key group of its timer's key, since queues
 * also change while another key, or none, is current. Used by the task thread.
 *
 * <p>What certainly changes nothing is not logged, since Flink registers most timers of windows
 * repeatedly, and removes them once more after they have fired. On the heap the number of timers
 * shows it, if no timer can change while the queue contains it. Otherwise it is a record that
 * {@link RecentTimers} recognizes by its bytes.
 *
 * @param <T> type of the timers
 */
final class LoggedPriorityQueue<T extends Keyed<?>> implements KeyGroupedInternalPriorityQueue<T> {

    private static final int UNKNOWN = -1;

    private final StateLog log;
    private final int numberOfKeyGroups;
    private final KeyExtractorFunction<T> keyOf = KeyExtractorFunction.forKeyedObjects();
    private final RecentTimers recent;
    private KeyGroupedInternalPriorityQueue<T> delegate;
    private TypeSerializer<T> elementSerializer;
    private boolean sizeShowsChanges;
    private boolean usesRecent;

    LoggedPriorityQueue(
            StateLog log,
            int numberOfKeyGroups,
            KeyGroupedInternalPriorityQueue<T> delegate,
            TypeSerializer<T> elementSerializer) {
        this(log, numberOfKeyGroups, delegate, elementSerializer, new RecentTimers());
    }

    LoggedPriorityQueue(
            StateLog log,
            int numberOfKeyGroups,
            KeyGroupedInternalPriorityQueue<T> delegate,
            TypeSerializer<T> elementSerializer,
            RecentTimers recent) {
        this.log = log;
        this.numberOfKeyGroups = numberOfKeyGroups;
        this.recent = recent;
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
        boolean onHeap = delegate.getClass() == HeapPriorityQueueSet.class;
        sizeShowsChanges =
                onHeap && elementSerializer.isImmutableType() && !log.isOfSeveralThreads();
        usesRecent = !sizeShowsChanges && !log.isOfSeveralThreads();
        recent.forget();
    }

    StateLog log() {
        return log;
    }

    /** Logs every element as if it were added now. */
    @SuppressWarnings("try") // close() is declared with Exception by Flink's interface
    void relog() throws IOException {
        recent.forget();
        try (CloseableIterator<T> elements = delegate.iterator()) {
            while (elements.hasNext()) {
                T element = elements.next();
                begin(element);
                log.append(RecordKind.PUT, keyGroup(element));
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
        DataOutputSerializer record = begin(head);
        try {
            T polled = delegate.poll();
            append(RecordKind.DELETE, head, record);
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
        DataOutputSerializer record = begin(toAdd);
        try {
            int sizeBefore = knownSize();
            boolean headChanged = delegate.add(toAdd);
            appendUnlessRedundant(RecordKind.PUT, toAdd, record, sizeBefore);
            return headChanged;
        } catch (Throwable t) {
            throw incomplete(t);
        }
    }

    @Override
    public boolean remove(@Nonnull T toRemove) {
        DataOutputSerializer record = begin(toRemove);
        try {
            int sizeBefore = knownSize();
            boolean headChanged = delegate.remove(toRemove);
            appendUnlessRedundant(RecordKind.DELETE, toRemove, record, sizeBefore);
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

    /** Starts the record of a timer; if that fails, nothing has happened. */
    private DataOutputSerializer begin(T element) {
        try {
            DataOutputSerializer record = log.beginRecord();
            elementSerializer.serialize(element, record);
            log.endKeyPrefix();
            return record;
        } catch (IOException e) {
            throw failure(e);
        }
    }

    private int knownSize() {
        return sizeShowsChanges ? delegate.size() : UNKNOWN;
    }

    private int keyGroup(T element) {
        return KeyGroupRangeAssignment.assignToKeyGroup(
                keyOf.extractKeyFromElement(element), numberOfKeyGroups);
    }

    private void append(RecordKind kind, T element, DataOutputSerializer record)
            throws IOException {
        int slot = usesRecent ? recent.slotOf(record.getSharedBuffer(), record.length()) : 0;
        append(kind, element, record, slot);
    }

    /**
     * Appends the record of a change, unless that certainly changed nothing.
     *
     * @param sizeBefore {@link #knownSize} before the change
     */
    private void appendUnlessRedundant(
            RecordKind kind, T element, DataOutputSerializer record, int sizeBefore)
            throws IOException {
        if (sizeBefore != UNKNOWN && sizeBefore == knownSize()) {
            log.dropRecord();
            return;
        }
        if (!usesRecent) {
            log.append(kind, keyGroup(element));
            return;
        }
        byte[] bytes = record.getSharedBuffer();
        int slot = recent.slotOf(bytes, record.length());
        if (recent.contains(slot, kind, log.generation(), bytes, record.length())) {
            log.dropRecord();
        } else {
            append(kind, element, record, slot);
        }
    }

    private void append(RecordKind kind, T element, DataOutputSerializer record, int slot)
            throws IOException {
        log.append(kind, keyGroup(element));
        if (usesRecent) {
            // Of the generation that the record was appended to, which may have begun with it.
            recent.appended(
                    slot, kind, log.generation(), record.getSharedBuffer(), record.length());
        }
    }

    /**
     * Marks the changelog incomplete: it is unknown what reached the delegate, or it could not be
     * logged.
     */
    private RuntimeException incomplete(Throwable cause) {
        recent.forget();
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
            DataOutputSerializer record = begin(current);
            try {
                elements.remove();
                append(RecordKind.DELETE, current, record);
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
