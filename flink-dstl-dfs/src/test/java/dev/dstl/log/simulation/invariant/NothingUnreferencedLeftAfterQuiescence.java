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

package dev.dstl.log.simulation.invariant;

import dev.dstl.log.simulation.cluster.CompletedCheckpoint;
import dev.dstl.log.simulation.cluster.FileHistory;
import dev.dstl.log.simulation.cluster.SimulatedLog;
import dev.dstl.log.store.SegmentName;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.Path;

/**
 * Every file that no checkpoint needs is deleted, except for those that no process could have
 * deleted. Each of these has a {@link Leftover} reason, and a name that identifies its writer, so
 * that listing finds it.
 */
public final class NothingUnreferencedLeftAfterQuiescence extends Invariant {

    /**
     * How often a changelog asks the store to delete a file; waiting for a thread is not asking.
     */
    private static final int TRIES = 4;

    private final Map<Leftover, List<SegmentName>> leftovers = new EnumMap<>(Leftover.class);
    private final Set<String> crashed = new TreeSet<>();

    @Override
    public void settled() {
        for (String file : unreferenced()) {
            FileHistory history = cluster().history(file);
            boolean known = history.isKnownToJobManager();
            if (!known && !cluster().store().isBeingWritten(file) && leftoverReason(file) == null) {
                violated("%s is left although the job goes on", file);
            }
        }
        for (SimulatedLog log : cluster().logs()) {
            if (!log.isVanished() && !log.isClosed()) {
                checkReported(log);
            }
        }
    }

    /**
     * A changelog that still runs has tried often enough, and says how many files it left behind,
     * each of them once. Some may not exist: their uploads failed.
     */
    private void checkReported(SimulatedLog log) {
        int left = 0;
        for (String file : unreferenced()) {
            FileHistory history = cluster().history(file);
            if (history.writer().equals(log.incarnation())
                    && leftoverReason(file) == Leftover.DELETE_WAS_REFUSED) {
                left++;
                if (history.refusals() < TRIES) {
                    violated("%s is left after %d tries", file, history.refusals());
                }
            }
        }
        if (left > log.leftBehind()) {
            violated("%s left %d files, and reports %d", log.incarnation(), left, log.leftBehind());
        }
        long tried = cluster().deletedFiles(log.incarnation(), TRIES);
        if (log.leftBehind() > tried) {
            violated(
                    "%s tried %d files often enough, and reports %d",
                    log.incarnation(), tried, log.leftBehind());
        }
    }

    @Override
    public void ended() {
        for (String file : unreferenced()) {
            Leftover reason = leftoverReason(file);
            if (reason == null) {
                violated("%s is left and nobody knows why", file);
                return;
            }
            SegmentName name = SegmentName.of(new Path(file)).orElse(null);
            if (name == null) {
                violated("%s is left and its name does not identify its writer", file);
                return;
            }
            leftovers.computeIfAbsent(reason, key -> new ArrayList<>()).add(name);
        }
    }

    /** What is left, and why. */
    public Map<Leftover, List<SegmentName>> leftovers() {
        return leftovers;
    }

    /** A changelog that goes on deletes the files of failed writes once more. */
    private boolean isDeletedAgain(String file) {
        if (!cluster().store().storedSoonAfterFailure().contains(file)) {
            return false;
        }
        String writer = cluster().history(file).writer();
        return cluster().logs().stream()
                .anyMatch(log -> log.incarnation().equals(writer) && !log.isClosed());
    }

    private Set<String> unreferenced() {
        crashed.clear();
        for (SimulatedLog log : cluster().logs()) {
            if (log.isVanished()) {
                crashed.add(log.incarnation());
            }
        }
        Set<String> files = new TreeSet<>(cluster().store().files());
        for (CompletedCheckpoint checkpoint : cluster().retained()) {
            files.removeAll(checkpoint.files());
        }
        return files;
    }

    @Nullable
    private Leftover leftoverReason(String file) {
        FileHistory history = cluster().history(file);
        if (history.isHandedOver()) {
            boolean known = history.isKnownToJobManager();
            return known ? null : Leftover.HANDLE_WAS_LOST;
        }
        if (crashed.contains(history.writer())) {
            return Leftover.WRITER_CRASHED;
        }
        if (cluster().store().storedAfterDelete().contains(file) && !isDeletedAgain(file)) {
            return Leftover.ARRIVED_AFTER_DELETE;
        }
        if (cluster().store().isBeingWritten(file)) {
            return Leftover.NEVER_ANSWERED;
        }
        return history.refusals() > 0 ? Leftover.DELETE_WAS_REFUSED : null;
    }
}
