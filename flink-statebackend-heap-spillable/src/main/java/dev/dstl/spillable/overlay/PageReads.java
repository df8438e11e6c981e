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

package dev.dstl.spillable.overlay;

import dev.dstl.spillable.partition.PageWindow;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether the task thread reads sealed partitions through their mappings, as long as the page cache
 * holds them, or single pages with calls. One backend's; task thread only.
 *
 * <p>It is told by the major page faults of the thread, never by time: a busy processor makes reads
 * slow as well. Reading by page, it tries the mapping for a few reads now and then, twice as seldom
 * each time that fails.
 */
final class PageReads {

    private static final Logger LOG = LoggerFactory.getLogger(PageReads.class);

    /** Reads through the mapping between two looks at the number of faults. */
    static final int READS_PER_LOOK = 4096;

    /** So many faults in that time, and reading around them costs more than all calls would. */
    private static final int MOST_FAULTS = 16;

    private static final int TRIED_READS = 64;
    private static final int MOST_TRIED_FAULTS = 1;
    private static final int FIRST_READS_BY_PAGE = 1 << 15;
    private static final int MOST_READS_BY_PAGE = 1 << 22;

    private enum Way {
        MAPPED,
        BY_PAGE,
        TRYING_MAPPED
    }

    private final LongSupplier faults;
    private final PageWindow window = new PageWindow();
    private Way way = Way.MAPPED;
    private int readsUntilLook = READS_PER_LOOK;
    private int readsByPage = FIRST_READS_BY_PAGE;
    private long faultsBefore;
    private boolean started;

    /**
     * @param faults major page faults of the thread so far
     */
    PageReads(LongSupplier faults) {
        this.faults = faults;
    }

    /** To be asked before each read. */
    boolean isByPage() {
        if (--readsUntilLook <= 0) {
            look();
        }
        return way == Way.BY_PAGE;
    }

    PageWindow window() {
        return window;
    }

    private void look() {
        long now = faults.getAsLong();
        long since = started ? now - faultsBefore : 0;
        started = true;
        faultsBefore = now;
        switch (way) {
            case MAPPED:
                if (since > MOST_FAULTS) {
                    LOG.info(
                            "The page cache no longer holds the chunk files of spilled state:"
                                    + " reading single pages from now on. More memory outside of"
                                    + " the JVM makes this faster.");
                    readByPage(FIRST_READS_BY_PAGE);
                } else {
                    readsUntilLook = READS_PER_LOOK;
                }
                break;
            case BY_PAGE:
                way = Way.TRYING_MAPPED;
                readsUntilLook = TRIED_READS;
                break;
            default:
                if (since > MOST_TRIED_FAULTS) {
                    readByPage(Math.min(MOST_READS_BY_PAGE, readsByPage << 1));
                } else {
                    LOG.info("The page cache holds the chunk files of spilled state again.");
                    way = Way.MAPPED;
                    readsUntilLook = READS_PER_LOOK;
                }
        }
    }

    private void readByPage(int reads) {
        way = Way.BY_PAGE;
        readsByPage = reads;
        readsUntilLook = reads;
    }
}
