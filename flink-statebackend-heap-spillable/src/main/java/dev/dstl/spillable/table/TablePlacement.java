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

package dev.dstl.spillable.table;

import dev.dstl.spillable.overlay.PartitionedMap;
import dev.dstl.spillable.overlay.SpillSpace;
import dev.dstl.spillable.partition.StateIdentity;
import java.io.IOException;

/**
 * Where the key groups of one state are, how hot they are, and moving their entries between heap
 * and chunk files. Task thread only; entries move between records, in small steps.
 *
 * <p>Positions are those of the key groups in the task's range, {@code [0, groupCount())}. A step
 * that {@link Residency} does not allow is an {@link IllegalStateException}.
 */
public final class TablePlacement {

    private final KeyGroups<?, ?, ?> groups;
    private final SpillSpace space;

    TablePlacement(KeyGroups<?, ?, ?> groups, SpillSpace space) {
        this.groups = groups;
        this.space = space;
    }

    /** Number of key groups. */
    public int groupCount() {
        return groups.count();
    }

    /** Where the entries of a key group are or are going. */
    public Residency residency(int position) {
        return groups.at(position).residency();
    }

    /** Entries of a key group on the heap. */
    public int heapEntries(int position) {
        return groups.at(position).heapSize();
    }

    /** Entries of a key group off-heap. */
    public int spilledEntries(int position) {
        return groups.at(position).spilledSize();
    }

    /** Accesses to a key group, older ones counting less; see {@link #coolDown}. */
    public double heat(int position) {
        return groups.at(position).heat();
    }

    /** Lets past accesses to every key group count half. */
    public void coolDown() {
        for (int i = 0; i < groups.count(); i++) {
            groups.at(i).coolDown();
        }
    }

    /**
     * Lets the entries of a key group that is on the heap or coming back go off-heap.
     *
     * @throws IOException if no spill directory can be made
     */
    public void startSpill(int position) throws IOException {
        groups.at(position).startSpill(space.open());
    }

    /**
     * Lets entries new to a key group go off-heap from now on; those on the heap stay there.
     *
     * @param keyGroup number of the key group, not its position
     * @throws IOException if no spill directory can be made
     */
    public void spillFromNowOn(int keyGroup) throws IOException {
        KeyGroupMap<?, ?, ?> group = groups.group(keyGroup);
        if (!group.residency().spillsNewEntries()) {
            group.startSpill(space.open());
        }
    }

    /**
     * Whose entries the partitions of a key group have.
     *
     * @param keyGroup number of the key group, not its position
     */
    public StateIdentity identity(int keyGroup) {
        return groups.group(keyGroup).identity();
    }

    /**
     * Takes over what a snapshot has spilled of a key group of which nothing is here yet.
     *
     * @param keyGroup number of the key group, not its position
     * @param spilled belongs to the key group from then on
     */
    public void restoreSpilled(int keyGroup, PartitionedMap spilled) {
        groups.group(keyGroup).restoreSpilled(spilled);
    }

    /**
     * Moves about that many entries off-heap.
     *
     * @return entries moved; fewer than asked for if the group has no more on the heap
     * @throws IOException if an entry cannot be serialized; it stays on the heap then
     */
    public int spill(int position, int entries) throws IOException {
        return spill(groups, position, entries);
    }

    private static <K, N, S> int spill(KeyGroups<K, N, S> groups, int position, int entries)
            throws IOException {
        return groups.at(position).spill(entries, groups.layout());
    }

    /** Lets the entries of a key group that is spilled or being spilled come back. */
    public void startLoad(int position) {
        groups.at(position).startLoad();
    }

    /**
     * Moves about that many entries onto the heap.
     *
     * @return entries moved; fewer than asked for if the group has no more off-heap
     * @throws IOException if an entry cannot be deserialized; it stays where it is then
     */
    public int load(int position, int entries) throws IOException {
        return load(groups, position, entries);
    }

    private static <K, N, S> int load(KeyGroups<K, N, S> groups, int position, int entries)
            throws IOException {
        return groups.at(position).load(entries, groups.layout());
    }
}
