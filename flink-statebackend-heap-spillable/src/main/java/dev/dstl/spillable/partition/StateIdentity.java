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

package dev.dstl.spillable.partition;

/** Whose entries a partition has: one state in one key group. */
public final class StateIdentity {

    private final int stateId;
    private final String stateName;
    private final int keyGroup;

    /**
     * @param stateId number of the state within its backend
     * @param stateName as the job knows it, for messages
     */
    public StateIdentity(int stateId, String stateName, int keyGroup) {
        this.stateId = stateId;
        this.stateName = stateName;
        this.keyGroup = keyGroup;
    }

    /** Number of the state within its backend. */
    public int stateId() {
        return stateId;
    }

    /** Number of the key group. */
    public int keyGroup() {
        return keyGroup;
    }

    @Override
    public String toString() {
        return "state '" + stateName + "', key group " + keyGroup;
    }
}
