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
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.state.LocalRecoveryConfig;
import org.apache.flink.runtime.state.LocalSnapshotDirectoryProvider;

/**
 * Directories of the copies of one storage, one per disk that Flink uses for local state.
 *
 * <pre>
 *   root of local state / aid_&lt;allocation&gt; / jid_... / vtx_...       Flink's, per slot
 *                       / dstl_jid_&lt;job&gt;   / &lt;incarnation&gt; / 42.seg  of DSTL, per job
 * </pre>
 *
 * <p>A storage serves all tasks of a job, but Flink makes it with the directories of the slot of
 * the first one, and deletes these with the slot. So the copies lie beside the slots, not in one.
 * Immutable.
 */
public final class LocalDirectories {

    private static final String SLOT_PREFIX = "aid_";
    private static final String JOB_PREFIX = "dstl_jid_";
    private static final String FLINK_JOB_PREFIX = "jid_";

    private final List<File> jobDirectories;
    private final String incarnation;

    private LocalDirectories(List<File> jobDirectories, String incarnation) {
        this.jobDirectories = jobDirectories;
        this.incarnation = incarnation;
    }

    /** Returns no directories, for a storage without local copies. */
    static LocalDirectories none() {
        return new LocalDirectories(Collections.emptyList(), "");
    }

    /**
     * Returns the directories of a storage; none if local recovery is disabled.
     *
     * @param recovery configuration of any task of the job
     * @param incarnation name of the storage, never used before
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
     * Returns the file of a copy. Alternates between disks.
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

    /** Returns the directories of this storage. */
    List<File> own() {
        List<File> own = new ArrayList<>();
        jobDirectories.forEach(jobDirectory -> own.add(directory(jobDirectory)));
        return own;
    }

    /**
     * Returns the directories of other storages in the same places, whether their owners live or
     * not.
     *
     * @param ending whether the job ends on this TaskManager, so that none of its tasks will
     *     recover from copies of an earlier process
     */
    List<File> strangers(boolean ending) {
        List<File> strangers = new ArrayList<>();
        for (File own : jobDirectories) {
            File[] found = own.getParentFile().listFiles((parent, name) -> isOfJob(name));
            for (File jobDirectory : found == null ? new File[0] : found) {
                boolean unneeded = jobDirectory.equals(own) ? ending : !mayRecover(jobDirectory);
                if (unneeded) {
                    strangers.addAll(directoriesIn(jobDirectory));
                }
            }
        }
        return strangers;
    }

    private static boolean isOfJob(String name) {
        return name.startsWith(JOB_PREFIX)
                && name.substring(JOB_PREFIX.length()).matches("[0-9a-f]{32}");
    }

    /**
     * Returns whether Flink still has local state of the job, which may refer to copies. Both take
     * turns between the disks, so that they may lie on different ones.
     */
    private boolean mayRecover(File jobDirectory) {
        String ofFlink = FLINK_JOB_PREFIX + jobDirectory.getName().substring(JOB_PREFIX.length());
        return jobDirectories.stream()
                .anyMatch(own -> mayHaveSlotWith(ofFlink, own.getParentFile()));
    }

    private static boolean mayHaveSlotWith(String ofFlink, File root) {
        File[] slots = root.listFiles((parent, name) -> name.startsWith(SLOT_PREFIX));
        return slots == null
                || Arrays.stream(slots).anyMatch(slot -> new File(slot, ofFlink).exists());
    }

    private Set<File> directoriesIn(File jobDirectory) {
        Set<File> directories = new TreeSet<>();
        File[] found = jobDirectory.listFiles();
        for (File file : found == null ? new File[0] : found) {
            String name = file.getName();
            String directory =
                    name.endsWith(DirectoryLocks.SUFFIX)
                            ? name.substring(0, name.length() - DirectoryLocks.SUFFIX.length())
                            : name;
            boolean lockOrDirectory = file.isDirectory() || !directory.equals(name);
            if (lockOrDirectory && !directory.equals(incarnation)) {
                directories.add(new File(jobDirectory, directory));
            }
        }
        return directories;
    }
}
