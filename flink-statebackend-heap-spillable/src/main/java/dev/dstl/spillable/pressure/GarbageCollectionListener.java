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

package dev.dstl.spillable.pressure;

import com.sun.management.GarbageCollectionNotificationInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import javax.annotation.Nullable;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports the live heap to an arbiter after every garbage collection that measures it. The JVM
 * calls it on its notification thread, one collection at a time.
 */
public final class GarbageCollectionListener implements NotificationListener {

    private static final Logger LOG = LoggerFactory.getLogger(GarbageCollectionListener.class);

    private final SpillArbiter arbiter;
    private final LiveHeapEstimate estimate = new LiveHeapEstimate();
    @Nullable private final MemoryPoolMXBean oldGeneration = findOldGeneration();
    private final List<NotificationEmitter> emitters = new ArrayList<>();

    private GarbageCollectionListener(SpillArbiter arbiter) {
        this.arbiter = arbiter;
    }

    /**
     * Starts the reports.
     *
     * @return what stops them
     */
    public static Runnable start(SpillArbiter arbiter) {
        GarbageCollectionListener notifications = new GarbageCollectionListener(arbiter);
        if (notifications.oldGeneration == null) {
            LOG.warn(
                    "This JVM shows no old generation; state stays on the heap. Supported"
                            + " collectors are G1, Parallel, Serial, ZGC and Shenandoah.");
            return () -> {};
        }
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            if (collector instanceof NotificationEmitter) {
                NotificationEmitter emitter = (NotificationEmitter) collector;
                emitter.addNotificationListener(notifications, null, null);
                notifications.emitters.add(emitter);
            }
        }
        return notifications::stop;
    }

    /** Most bytes that the old generation can hold; no limit if the JVM does not show it. */
    public static long oldGenerationBytes() {
        MemoryPoolMXBean pool = findOldGeneration();
        return pool == null ? Long.MAX_VALUE : limit(pool.getUsage());
    }

    private static long limit(MemoryUsage usage) {
        return usage.getMax() > 0 ? usage.getMax() : Runtime.getRuntime().maxMemory();
    }

    @Nullable
    private static MemoryPoolMXBean findOldGeneration() {
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            String name = pool.getName();
            if (pool.getType() == MemoryType.HEAP
                    && (name.contains("Old Gen")
                            || name.contains("Tenured")
                            || name.equals("ZHeap")
                            || name.equals("Shenandoah"))) {
                return pool;
            }
        }
        return null;
    }

    @Override
    public void handleNotification(Notification notification, Object handback) {
        if (!notification
                .getType()
                .equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)) {
            return;
        }
        GarbageCollectionNotificationInfo info =
                GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData());
        MemoryUsage after = info.getGcInfo().getMemoryUsageAfterGc().get(oldGeneration.getName());
        if (after == null) {
            return;
        }
        long max = limit(after);
        OptionalLong live =
                estimate.collected(info.getGcName(), info.getGcAction(), after.getUsed());
        boolean moving = live.isPresent() && arbiter.onLiveHeap(live.getAsLong(), max);
        if (moving || arbiter.onOccupiedHeap(after.getUsed(), max)) {
            estimate.restart();
        }
    }

    private void stop() {
        for (NotificationEmitter emitter : emitters) {
            try {
                emitter.removeNotificationListener(this);
            } catch (ListenerNotFoundException e) {
                LOG.debug("A garbage collector had forgotten its listener.", e);
            }
        }
    }
}
