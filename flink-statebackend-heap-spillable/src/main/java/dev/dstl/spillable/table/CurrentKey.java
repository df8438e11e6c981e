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

import org.apache.flink.runtime.state.InternalKeyContext;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * The key that the task is working on, and how often one was selected. Task thread only.
 *
 * <p>Every selection of a key starts a new {@link #epoch()}, even of an equal or the same object: a
 * job may reuse one mutable key object, so identity alone does not say that a key is unchanged.
 */
public final class CurrentKey<K> implements InternalKeyContext<K> {

    private final KeyGroupRange keyGroupRange;
    private final int numberOfKeyGroups;

    private K key;
    private int keyGroup;
    private long epoch;

    /**
     * @param keyGroupRange of the task
     * @param numberOfKeyGroups of the job, its maximum parallelism
     */
    public CurrentKey(KeyGroupRange keyGroupRange, int numberOfKeyGroups) {
        this.keyGroupRange = keyGroupRange;
        this.numberOfKeyGroups = numberOfKeyGroups;
    }

    @Override
    public K getCurrentKey() {
        return key;
    }

    @Override
    public int getCurrentKeyGroupIndex() {
        return keyGroup;
    }

    @Override
    public int getNumberOfKeyGroups() {
        return numberOfKeyGroups;
    }

    @Override
    public KeyGroupRange getKeyGroupRange() {
        return keyGroupRange;
    }

    @Override
    public void setCurrentKey(K currentKey) {
        key = currentKey;
        epoch++;
    }

    @Override
    public void setCurrentKeyGroupIndex(int currentKeyGroupIndex) {
        keyGroup = currentKeyGroupIndex;
        epoch++;
    }

    /** Number of key selections so far; always greater than zero once a key was selected. */
    public long epoch() {
        return epoch;
    }
}
