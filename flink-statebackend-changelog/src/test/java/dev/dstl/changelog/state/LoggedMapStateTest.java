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

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.dstl.changelog.fixture.Delegate;
import dev.dstl.changelog.fixture.InMemoryChangelogWriter;
import dev.dstl.changelog.fixture.InMemoryLog;
import dev.dstl.changelog.fixture.LoggedJob;
import dev.dstl.log.api.LogRecord;
import dev.dstl.log.api.RecordKind;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.RunnableFuture;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StateEntry;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LoggedMapStateTest {

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void nullValues_areKeptAndLogged(Delegate.Kind kind) throws Exception {
        try (LoggedJob job = LoggedJob.start(kind, InMemoryLog.withRecordKeys())) {
            job.at(1, "a");
            job.map.put("k", null);
            Map<String, Integer> more = new HashMap<>();
            more.put("l", null);
            job.map.putAll(more);

            try (LoggedJob restored = LoggedJob.restore(kind, job.log)) {
                restored.at(1, "a");
                assertThat(restored.map.contains("k")).isTrue();
                assertThat(restored.map.get("k")).isNull();
                assertThat(restored.map.contains("l")).isTrue();
                assertThat(restored.map.contains("m")).isFalse();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void entriesKeysAndValues_canBeIteratedAgain(Delegate.Kind kind) throws Exception {
        try (LoggedJob job = LoggedJob.start(kind, InMemoryLog.withRecordKeys())) {
            job.at(1, "a");
            job.map.put("k", 1);
            job.map.put("l", 2);

            for (Iterable<?> iterable :
                    new Iterable<?>[] {job.map.entries(), job.map.keys(), job.map.values()}) {
                assertThat(iterable).hasSize(2);
                assertThat(iterable).hasSize(2);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void changesThroughIterators_belongToTheKeyAndNamespaceOfTheirCreation(Delegate.Kind kind)
            throws Exception {
        try (LoggedJob job = LoggedJob.start(kind, InMemoryLog.withRecordKeys())) {
            job.at(1, "a");
            job.map.put("k", 1);
            job.map.put("l", 2);
            Iterator<Map.Entry<String, Integer>> entries = job.map.iterator();
            Iterator<Integer> values = job.map.values().iterator();
            Map.Entry<String, Integer> first = entries.next();
            values.next();

            job.at(2, "b");
            first.setValue(77);
            values.remove();

            InMemoryChangelogWriter log = (InMemoryChangelogWriter) job.log.writer();
            LogRecord put = log.record(log.size() - 2);
            LogRecord delete = log.record(log.size() - 1);
            assertThat(put.kind()).isEqualTo(RecordKind.PUT);
            assertThat(put.keyGroup()).isEqualTo(LoggedJob.keyGroup(1));
            assertThat(delete.kind()).isEqualTo(RecordKind.DELETE);
            assertThat(delete.keyGroup()).isEqualTo(LoggedJob.keyGroup(1));
            assertThat(job.map.isEmpty()).isTrue();
            try (LoggedJob restored = LoggedJob.restore(kind, job.log)) {
                assertThat(restored.contents()).isEqualTo(job.contents());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void aMapKeyHasItsOwnRecordKey_withKeyAndNamespaceAsPrefix(Delegate.Kind kind)
            throws Exception {
        try (LoggedJob job = LoggedJob.start(kind, InMemoryLog.withRecordKeys())) {
            job.at(1, "a");
            job.map.put("k", 1);
            job.map.remove("k");
            job.map.clear();

            InMemoryChangelogWriter log = (InMemoryChangelogWriter) job.log.writer();
            LogRecord put = log.record(1);
            LogRecord delete = log.record(2);
            LogRecord clear = log.record(3);
            assertThat(put.keyPrefixLength()).isLessThan(put.keyLength());
            assertThat(put.payloadLength()).isEqualTo(5);
            assertThat(delete.keyLength()).isEqualTo(put.keyLength());
            assertThat(delete.payloadLength()).isZero();
            assertThat(clear.kind()).isEqualTo(RecordKind.DELETE_PREFIX);
            assertThat(clear.keyLength()).isEqualTo(put.keyPrefixLength());
            assertThat(clear.keyPrefixLength()).isEqualTo(put.keyPrefixLength());
        }
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void removeWithoutNext_isRefusedAndNotLogged(Delegate.Kind kind) throws Exception {
        try (LoggedJob job = LoggedJob.start(kind, InMemoryLog.withRecordKeys())) {
            job.at(1, "a");
            job.map.put("k", 1);
            InMemoryChangelogWriter log = (InMemoryChangelogWriter) job.log.writer();
            int before = log.size();

            assertThatThrownBy(() -> job.map.iterator().remove())
                    .isInstanceOf(IllegalStateException.class);

            assertThat(log.size()).isEqualTo(before);
        }
    }

    /** Flink's clean-up of expired state replaces a map of which only some entries are expired. */
    @Test
    void removalByAnIterator_whoseMapACleanUpHasReplaced_isNotLogged() throws Exception {
        Delegate.Kind kind = Delegate.Kind.HASH_MAP;
        try (LoggedJob job = LoggedJob.start(kind, InMemoryLog.withRecordKeys())) {
            job.at(1, "a");
            job.map.put("k", 1);
            job.map.put("l", 2);
            Iterator<Map.Entry<String, Integer>> entries = job.map.iterator();
            entries.next();
            cleanUp((LoggedMapState<Integer, String, String, Integer>) job.map);

            entries.remove();

            assertThat(job.map.entries()).hasSize(2);
            assertRestored(kind, job);
        }
    }

    @Test
    void removalByAnIterator_openedAfterACleanUpReplacedItsMap_isNotLogged() throws Exception {
        Delegate.Kind kind = Delegate.Kind.HASH_MAP;
        try (LoggedJob job = LoggedJob.start(kind, InMemoryLog.withRecordKeys())) {
            job.at(1, "a");
            job.map.put("k", 1);
            job.map.put("l", 2);
            Iterable<Map.Entry<String, Integer>> entries = job.map.entries();
            cleanUp((LoggedMapState<Integer, String, String, Integer>) job.map);

            Iterator<Map.Entry<String, Integer>> opened = entries.iterator();
            opened.next();
            opened.remove();

            assertRestored(kind, job);
        }
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void changeThroughEntriesOfAMapThatWasClearedMeanwhile_isWhatTheDelegateMadeOfIt(
            Delegate.Kind kind) throws Exception {
        for (boolean removes : new boolean[] {false, true}) {
            try (LoggedJob job = LoggedJob.start(kind, InMemoryLog.withRecordKeys())) {
                job.at(1, "a");
                job.map.put("k", 1);
                Iterable<Map.Entry<String, Integer>> entries = job.map.entries();
                job.map.clear();
                job.map.put("k", 2);

                Iterator<Map.Entry<String, Integer>> opened = entries.iterator();
                Map.Entry<String, Integer> entry = opened.next();
                if (removes) {
                    opened.remove();
                } else {
                    entry.setValue(9);
                }

                assertRestored(kind, job);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Delegate.Kind.class)
    void changeThroughEntriesFromBeforeASnapshot_isWhatTheDelegateMadeOfIt(Delegate.Kind kind)
            throws Exception {
        for (boolean removes : new boolean[] {false, true}) {
            try (LoggedJob job = LoggedJob.start(kind, InMemoryLog.withRecordKeys())) {
                job.at(1, "a");
                job.map.put("k", 1);
                Iterator<Map.Entry<String, Integer>> entries = job.map.iterator();
                Map.Entry<String, Integer> entry = entries.next();
                RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot = snapshot(job);
                assertThat(job.map.get("k")).isEqualTo(1);

                if (removes) {
                    entries.remove();
                } else {
                    entry.setValue(9);
                }
                snapshot.cancel(true);

                assertRestored(kind, job);
            }
        }
    }

    private static RunnableFuture<SnapshotResult<KeyedStateHandle>> snapshot(LoggedJob job)
            throws Exception {
        job.registry.snapshotStarts();
        return job.backend()
                .snapshot(
                        1,
                        0,
                        new MemCheckpointStreamFactory(1 << 20),
                        CheckpointOptions.forCheckpointWithDefaultLocation());
    }

    private static void assertRestored(Delegate.Kind kind, LoggedJob job) throws Exception {
        try (LoggedJob restored = LoggedJob.restore(kind, job.log)) {
            assertThat(restored.contents()).isEqualTo(job.contents());
        }
    }

    private static void cleanUp(LoggedMapState<Integer, String, String, Integer> map) {
        InternalKvState.StateIncrementalVisitor<Integer, String, Map<String, Integer>> visitor =
                map.getStateIncrementalVisitor(10);
        while (visitor.hasNext()) {
            for (StateEntry<Integer, String, Map<String, Integer>> entry : visitor.nextEntries()) {
                visitor.update(entry, new HashMap<>(entry.getState()));
            }
        }
    }
}
