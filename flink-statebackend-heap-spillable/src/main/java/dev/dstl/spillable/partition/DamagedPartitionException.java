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

import java.nio.file.Path;

/**
 * Bytes of a partition are not those that were written. The task fails with it and restores from
 * its checkpoint; the partition is never read as if keys were missing.
 */
public final class DamagedPartitionException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * @param identity whose entries are lost
     * @param offset in the file, of the damaged bytes
     * @param what is damaged
     */
    DamagedPartitionException(
            StateIdentity identity,
            Path file,
            long offset,
            String what,
            long expected,
            long found) {
        super(
                String.format(
                        "Spilled state is damaged (%s): %s at byte %d of %s is %08x, %08x was"
                                + " written. The disk or something else has changed the file; the"
                                + " state is restored from the last checkpoint.",
                        identity, what, offset, file, found, expected));
    }
}
