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

package dev.dstl.log.local;

import java.io.File;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProvider;

/**
 * Where the copies of one storage lie, one directory per disk that Flink uses for local state.
 *
 * <pre>
 *   root of local state / aid_&lt;allocation&gt; / jid_... / vtx_...       Flink's, per slot
 *                       / dstl_jid_&lt;job&gt;   / &lt;incarnation&gt; / 42.seg  ours, per job
 * </pre>
 *
 * <p>A storage serves all tasks of a job, but Flink makes it with the directories of the slot of
 * the first one, and deletes these with the slot. So the copies lie beside the slots, not in one.
 * Immutable.
 */
public final class LocalDirectories {

    private static final String SLOT_PREFIX = "aid_";
    private static final String JOB_PREFIX = "dstl_jid_";

    private final List<File> jobDirectories;
    private final String incarnation;

    private LocalDirectories(List<File> jobDirectories, String incarnation) {
        this.jobDirectories = jobDirectories;
        this.incarnation = incarnation;
    }

    /** None, for a storage without local copies. */
    static LocalDirectories none() {
        return new LocalDirectories(Collections.emptyList(), "");
    }

    /**
     * The directories for a storage; none if local copies are switched off.
     *
     * @param recovery of any task of the job
     * @param incarnation names the storage, never used before
     */
    public static LocalDirectories of(
            LocalRecoveryConfig recovery, JobID jobId, String incarnation) {
        List<File> jobDirectories = new ArrayList<>();
        if (recovery.isLocalBackupEnabled()
                && recovery.getLocalStateDirectoryProvider().isPresent()) {
            LocalSnapshotDirectoryProvider slots = recovery.getLocalStateDirectoryProvider().get();
            for (int i = 0; i < slots.allocationBaseDirsCount(); i++) {
                File slot = slots.selectAllocationBaseDirectory(i).getAbsoluteFile();
                File root = slot.getName().startsWith(SLOT_PREFIX) ? slot.getParentFile() : slot;
                jobDirectories.add(new File(root, JOB_PREFIX + jobId.toHexString()));
            }
        }
        return new LocalDirectories(jobDirectories, incarnation);
    }

    boolean isEmpty() {
        return jobDirectories.isEmpty();
    }

    /**
     * The file of a copy. Takes the disks in turn.
     *
     * @param number counts the copies of the storage
     */
    File file(long number) {
        int disk = (int) (number % jobDirectories.size());
        return new File(directory(jobDirectories.get(disk)), number + ".seg");
    }

    private File directory(File jobDirectory) {
        return new File(jobDirectory, incarnation);
    }

    /** The directories of this storage. */
    List<File> own() {
        List<File> own = new ArrayList<>();
        jobDirectories.forEach(jobDirectory -> own.add(directory(jobDirectory)));
        return own;
    }

    /** The directories that exist of other storages of the job, which died with their process. */
    List<File> strangers() {
        List<File> strangers = new ArrayList<>();
        for (File jobDirectory : jobDirectories) {
            File[] found = jobDirectory.listFiles((parent, name) -> !name.equals(incarnation));
            if (found != null) {
                Collections.addAll(strangers, found);
            }
        }
        return strangers;
    }
}
