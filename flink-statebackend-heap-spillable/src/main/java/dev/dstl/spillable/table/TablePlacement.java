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
import java.util.BitSet;

/**
 * Where the key groups of one state are, how hot they are, and moving their entries between heap
 * and chunk files. Task thread only; entries move between records, in small steps.
 *
 * <p>Positions are those of the key groups in the task's range, {@code [0, groupCount())}. A step
 * that {@link Residency} does not allow is an {@link IllegalStateException}.
 */
public final class TablePlacement {

    /**
     * What a key group takes off-heap and on the heap as soon as one entry of it is spilled, twice,
     * and what spilled entries take.
     */
    private static final double SMALLEST_SPILLED_BYTES = 4096;

    private final KeyGroups<?, ?, ?> groups;
    private final SpillSpace space;

    /** Key groups with an entry that could not be serialized since the last cool-down. */
    private final BitSet unwritable = new BitSet();

    /** Key groups with an entry that could not be deserialized since the last cool-down. */
    private final BitSet unloadable = new BitSet();

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

    /** Estimated bytes of the entries of a key group that are on the heap. */
    public double heapBytes(int position) {
        return groups.at(position).heapBytes();
    }

    /** Estimated bytes that the entries of a key group that are off-heap would take on the heap. */
    public double loadedBytes(int position) {
        return groups.at(position).loadedBytes();
    }

    /** Estimated bytes of heap that the last step of a spill has freed, or of a load has taken. */
    public double movedBytes(int position) {
        return groups.at(position).movedBytes();
    }

    /** Whether spilling a key group frees more memory than it takes, and was not in vain. */
    public boolean isWorthSpilling(int position) {
        return !isUnwritable(position) && groups.at(position).heapBytes() >= SMALLEST_SPILLED_BYTES;
    }

    /** Whether an entry of a key group could not be serialized since the last cool-down. */
    public boolean isUnwritable(int position) {
        return unwritable.get(position);
    }

    /** Whether an entry of a key group could not be deserialized since the last cool-down. */
    public boolean isUnloadable(int position) {
        return unloadable.get(position);
    }

    /** Whether the last load of a key group has found that no entry fits into so many bytes. */
    public boolean nothingFits(int position, double room) {
        return groups.at(position).nothingFits(room);
    }

    /** Measures some entries on the heap, others each time. Takes some ten microseconds. */
    public void measure() {
        groups.measure();
    }

    /** Accesses to a key group, older ones counting less; see {@link #coolDown}. */
    public double heat(int position) {
        return groups.at(position).heat();
    }

    /** Lets past accesses to every key group count half, and entries be tried again. */
    public void coolDown() {
        unwritable.clear();
        unloadable.clear();
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
     * Lets entries new to a key group go off-heap from now on, as soon as that is worth it; those
     * on the heap stay there.
     *
     * @param keyGroup number of the key group, not its position
     * @throws IOException if no spill directory can be made
     */
    public void spillFromNowOn(int keyGroup) throws IOException {
        KeyGroupMap<?, ?, ?> group = groups.group(keyGroup);
        if (!group.residency().spillsNewEntries() && group.heapBytes() >= SMALLEST_SPILLED_BYTES) {
            group.startSpill(space.open());
        }
    }

    /** The state and the number of a key group, for messages. */
    public String describe(int position) {
        return groups.at(position).identity().toString();
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
     * Moves about that many entries off-heap, or as many slices of large ones.
     *
     * @return entries moved; fewer than asked for if the group has no more on the heap
     * @throws IOException if an entry cannot be serialized; it stays on the heap then, and the key
     *     group is {@linkplain #isUnwritable unwritable}
     */
    public int spill(int position, int steps) throws IOException {
        try {
            return spill(groups, position, steps);
        } catch (IOException e) {
            unwritable.set(position);
            throw e;
        }
    }

    private static <K, N, S> int spill(KeyGroups<K, N, S> groups, int position, int steps)
            throws IOException {
        return groups.at(position).spill(steps, groups.layout());
    }

    /** Lets the entries of a key group that is spilled or being spilled come back. */
    public void startLoad(int position) {
        groups.at(position).startLoad();
    }

    /**
     * Moves about that many entries onto the heap, or as many slices of large ones.
     *
     * @return entries moved; fewer than asked for if the group has no more off-heap
     * @throws IOException if an entry cannot be deserialized; it stays where it is then, and the
     *     key group is {@linkplain #isUnloadable unloadable}
     */
    public int load(int position, int steps) throws IOException {
        return load(position, steps, Double.MAX_VALUE);
    }

    /**
     * As the other {@code load}, and leaves large entries where they are for which there is no
     * room.
     *
     * @param room bytes of heap that entries may take
     */
    public int load(int position, int steps, double room) throws IOException {
        try {
            return load(groups, position, steps, room);
        } catch (IOException e) {
            unloadable.set(position);
            throw e;
        }
    }

    private static <K, N, S> int load(
            KeyGroups<K, N, S> groups, int position, int steps, double room) throws IOException {
        return groups.at(position).load(steps, room, groups.layout());
    }
}
