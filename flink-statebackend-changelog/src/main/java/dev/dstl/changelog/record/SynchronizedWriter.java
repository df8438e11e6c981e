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

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandle;
import org.apache.flink.runtime.state.changelog.SequenceNumber;
import org.apache.flink.runtime.state.changelog.StateChangelogWriter;

/**
 * A changelog writer that several threads may use. While it is called, the calling thread holds the
 * monitor of the writer behind it.
 *
 * @param <H> type of the handles
 * @param <W> type of the writer behind it
 */
class SynchronizedWriter<H extends ChangelogStateHandle, W extends StateChangelogWriter<H>>
        implements StateChangelogWriter<H> {

    /** Its owner is whoever closes this writer. */
    final W writer;

    SynchronizedWriter(W writer) {
        this.writer = writer;
    }

    @Override
    public SequenceNumber initialSequenceNumber() {
        synchronized (writer) {
            return writer.initialSequenceNumber();
        }
    }

    @Override
    public SequenceNumber nextSequenceNumber() {
        synchronized (writer) {
            return writer.nextSequenceNumber();
        }
    }

    @Override
    public void appendMeta(byte[] value) throws IOException {
        synchronized (writer) {
            writer.appendMeta(value);
        }
    }

    @Override
    public void append(int keyGroup, byte[] value) throws IOException {
        synchronized (writer) {
            writer.append(keyGroup, value);
        }
    }

    @Override
    public CompletableFuture<SnapshotResult<H>> persist(SequenceNumber from, long checkpointId)
            throws IOException {
        synchronized (writer) {
            return writer.persist(from, checkpointId);
        }
    }

    @Override
    public void truncate(SequenceNumber to) {
        synchronized (writer) {
            writer.truncate(to);
        }
    }

    @Override
    public void confirm(SequenceNumber from, SequenceNumber to, long checkpointId) {
        synchronized (writer) {
            writer.confirm(from, to, checkpointId);
        }
    }

    @Override
    public void reset(SequenceNumber from, SequenceNumber to, long checkpointId) {
        synchronized (writer) {
            writer.reset(from, to, checkpointId);
        }
    }

    @Override
    public void truncateAndClose(SequenceNumber from) {
        synchronized (writer) {
            writer.truncateAndClose(from);
        }
    }

    @Override
    public void close() {
        synchronized (writer) {
            writer.close();
        }
    }
}
