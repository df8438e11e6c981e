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

package dev.dstl.spillable.conformance;

import dev.dstl.spillable.PlacedBackends;
import dev.dstl.spillable.SpillableStateBackend;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;

/** Where a conformance test keeps the state. */
public enum Placement {
    ON_HEAP {
        @Override
        public SpillableStateBackend backend() {
            return PlacedBackends.onHeap();
        }
    },
    SPILLED {
        @Override
        public SpillableStateBackend backend() {
            return PlacedBackends.spilled(new Configuration());
        }
    },
    RANDOM {
        @Override
        public SpillableStateBackend backend() {
            return PlacedBackends.random(new Configuration(), 42);
        }
    },
    SPILLED_INCREMENTAL {
        @Override
        public SpillableStateBackend backend() {
            return PlacedBackends.spilled(incremental());
        }
    },
    RANDOM_INCREMENTAL {
        @Override
        public SpillableStateBackend backend() {
            return PlacedBackends.random(incremental(), 42);
        }
    };

    public abstract SpillableStateBackend backend();

    private static Configuration incremental() {
        return new Configuration().set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
    }
}
