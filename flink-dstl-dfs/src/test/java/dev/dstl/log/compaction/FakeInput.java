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

package dev.dstl.log.compaction;

import dev.dstl.log.commit.BatchPosition;

/** A run that is not in any file. */
final class FakeInput implements CompactionInput {

    @Override
    public long sequence() {
        return 0;
    }

    @Override
    public int level() {
        return 0;
    }

    @Override
    public BatchPosition position() {
        throw new IllegalStateException("There is no file");
    }

    @Override
    public long frameBytes() {
        return 1;
    }

    @Override
    public long memoryBytes() {
        return 0;
    }

    @Override
    public boolean isCompactable(long persists) {
        return true;
    }
}
