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

package dev.dstl.log.memory;

import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToLongFunction;
import javax.annotation.Nullable;

/**
 * A pool of idle objects, retained as long as there is memory for them. Last in, first out.
 * Thread-safe; no method blocks.
 *
 * @param <T> type of the objects, whose size must not change while they are pooled
 */
public final class IdleObjects<T> {

    private final int max;
    private final ToLongFunction<T> bytes;
    private final ProcessMemory memory;
    private final ConcurrentLinkedDeque<T> idle = new ConcurrentLinkedDeque<>();
    private final AtomicInteger count = new AtomicInteger();

    /** The smallest number of pooled objects since the last {@link #trim}. */
    private final AtomicInteger fewest = new AtomicInteger();

    private volatile boolean closed;

    private final AtomicLong trimmedNanos = new AtomicLong(Long.MIN_VALUE);

    /**
     * Creates an empty pool.
     *
     * @param max maximum number of pooled objects
     * @param bytes returns the size of an object
     */
    public IdleObjects(int max, ToLongFunction<T> bytes, ProcessMemory memory) {
        this.max = max;
        this.bytes = bytes;
        this.memory = memory;
    }

    /** Takes the object that was returned last; null if the pool is empty. */
    @Nullable
    public T poll() {
        return taken(idle.pollFirst());
    }

    @Nullable
    private T taken(@Nullable T object) {
        if (object != null) {
            int left = count.decrementAndGet();
            if (left < fewest.get()) {
                fewest.set(Math.max(0, left));
            }
            memory.take(bytes.applyAsLong(object));
        }
        return object;
    }

    /**
     * Returns an object to the pool, or leaves it to the garbage collector if the pool is full or
     * there is no memory for it.
     */
    public void offer(T object) {
        if (count.incrementAndGet() > max || !keep(object, bytes.applyAsLong(object))) {
            count.decrementAndGet();
        } else if (closed) {
            drop();
        }
    }

    private boolean keep(T object, long size) {
        if (!memory.tryKeep(size)) {
            return false;
        }
        try {
            idle.addFirst(object);
            return true;
        } catch (Throwable noMemory) {
            memory.take(size);
            return false;
        }
    }

    /** Drops all objects, and from now on those that are returned. */
    public void close() {
        closed = true;
        drop();
    }

    /** Drops all objects. */
    public void drop() {
        drop(Integer.MAX_VALUE);
    }

    private void drop(int most) {
        for (int i = 0; i < most; i++) {
            if (taken(idle.pollLast()) == null) {
                return;
            }
        }
    }

    /**
     * Drops the objects that were not needed since the last call. Has no effect if that call was
     * less than a period ago.
     *
     * @param nowNanos current time of a clock that all callers share
     */
    public void trim(long nowNanos, long periodNanos) {
        long last = trimmedNanos.get();
        if (last != Long.MIN_VALUE && nowNanos - last < periodNanos) {
            return;
        }
        if (trimmedNanos.compareAndSet(last, nowNanos)) {
            drop(fewest.get());
            fewest.set(count.get());
        }
    }

    /** Returns the approximate number of pooled objects. */
    public int count() {
        return count.get();
    }
}
