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

package dev.dstl.changelog.restore;

import dev.dstl.changelog.replay.StateChangeCursor;
import dev.dstl.log.api.ChangelogReader;
import dev.dstl.log.api.RecordCursor;
import dev.dstl.log.api.ReplayMemory;
import dev.dstl.log.api.RestoredFiles;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.annotation.Nullable;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.TaskStateManager;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.StateChangelogHandleReader;
import org.apache.flink.runtime.state.changelog.StateChangelogStorageLoader;
import org.apache.flink.runtime.state.changelog.StateChangelogStorageView;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.util.IOUtils;

/**
 * Opens changelog handles, each with the storage that wrote it. Flink gives a job one reading view
 * per TaskManager, of the storage that was requested first; so only handles with DSTL's
 * identifiers, which all name the same storage, are read through that view, and all others through
 * separate views. Used by the task thread; closed by its creator, after all cursors.
 */
final class LogReaders implements AutoCloseable {

    private static final Set<String> READ_THROUGH_TASK_MANAGER = Set.of("dstl", "filesystem");

    /** Stands for DSTL's storage. */
    private static final ChangelogStateHandle EMPTY =
            new ChangelogStateHandleStreamImpl(
                    List.of(), KeyGroupRange.EMPTY_KEY_GROUP_RANGE, 0, 0, "dstl");

    private final TaskStateManager taskStateManager;
    private final Configuration configuration;
    private final Runnable whenReadIsRetried;
    private final Map<String, StateChangelogStorageView<?>> ownViews = new HashMap<>();

    /**
     * Creates readers.
     *
     * @param whenReadIsRetried called on any thread when DSTL's storage retries a read
     */
    LogReaders(
            TaskStateManager taskStateManager,
            Configuration configuration,
            Runnable whenReadIsRetried) {
        this.taskStateManager = taskStateManager;
        this.configuration = configuration;
        this.whenReadIsRetried = whenReadIsRetried;
    }

    /**
     * Opens the records of a handle.
     *
     * @return to be closed by the caller
     * @throws IOException if no storage can read the handle, or the storage fails
     */
    RecordCursor open(ChangelogStateHandle handle) throws IOException {
        StateChangelogHandleReader<?> reader = view(handle).createReader();
        if (reader instanceof ChangelogReader && handle instanceof ChangelogStateHandleStreamImpl) {
            return ((ChangelogReader) reader)
                    .open((ChangelogStateHandleStreamImpl) handle, whenReadIsRetried);
        }
        return changes(reader, handle);
    }

    /**
     * Returns what opens the files of bases: DSTL's storage, whichever storage the changelogs are
     * in.
     *
     * @throws IOException if there is no such storage
     */
    RestoredFiles files() throws IOException {
        StateChangelogHandleReader<?> reader = view(EMPTY).createReader();
        return reader instanceof ChangelogReader
                ? ((ChangelogReader) reader).files(whenReadIsRetried)
                : FileStateHandle::openInputStream;
    }

    /**
     * Returns the memory for records of a handle that are read and not yet replayed.
     *
     * @throws IOException if no storage can read the handle
     */
    ReplayMemory memory(ChangelogStateHandle handle) throws IOException {
        StateChangelogHandleReader<?> reader = view(handle).createReader();
        return reader instanceof ChangelogReader
                ? ((ChangelogReader) reader).memory()
                : ReplayMemory.NONE;
    }

    @SuppressWarnings("unchecked") // A storage reads the handles that carry its identifier.
    private static <H extends ChangelogStateHandle> RecordCursor changes(
            StateChangelogHandleReader<H> reader, ChangelogStateHandle handle) throws IOException {
        return new StateChangeCursor(reader.getChanges((H) handle));
    }

    private StateChangelogStorageView<?> view(ChangelogStateHandle handle) throws IOException {
        String storage = handle.getStorageIdentifier();
        StateChangelogStorageView<?> view = ownViews.get(storage);
        if (view == null) {
            try {
                view = READ_THROUGH_TASK_MANAGER.contains(storage) ? ofTaskManager(handle) : null;
                if (view == null) {
                    view = StateChangelogStorageLoader.loadFromStateHandle(configuration, handle);
                    ownViews.put(storage, view);
                }
            } catch (RuntimeException e) {
                throw unreadable(storage, e);
            }
        }
        if (view == null) {
            throw unreadable(storage, null);
        }
        return view;
    }

    /** Returns null if there is no TaskManager, as in Flink's State Processor API. */
    @Nullable
    private StateChangelogStorageView<?> ofTaskManager(ChangelogStateHandle handle) {
        try {
            return taskStateManager.getStateChangelogStorageView(configuration, handle);
        } catch (UnsupportedOperationException e) {
            return null;
        }
    }

    private static IOException unreadable(String storage, Throwable cause) {
        return new IOException(
                String.format(
                        "The checkpoint contains a changelog that was written with"
                                + " 'state.changelog.storage: %s', which no storage in lib/ of this"
                                + " TaskManager can read; put the jar of that storage into lib/ of"
                                + " every Flink process and restart.",
                        storage),
                cause);
    }

    @Override
    public void close() {
        IOUtils.closeAllQuietly(ownViews.values());
    }
}
