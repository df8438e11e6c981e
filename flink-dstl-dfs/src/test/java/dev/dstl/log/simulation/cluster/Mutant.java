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

package dev.dstl.log.simulation.cluster;

import dev.dstl.log.config.DstlSettings;
import dev.dstl.log.execution.Timers;
import dev.dstl.log.simulation.schedule.ThreadStarts;
import dev.dstl.log.store.SegmentContent;
import dev.dstl.log.store.SegmentName;
import dev.dstl.log.store.SegmentStore;
import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.function.LongPredicate;
import org.apache.flink.core.fs.Path;

/** Defects that are injected on purpose, to show that an invariant detects them. */
public enum Mutant {
    NONE,

    /** A checkpoint cancelled before it was sent does not report it. */
    DROPPED_HANDLE_FORGOTTEN,

    /** A write counts as a success although closing the file failed. */
    CLOSE_FAILURE_SWALLOWED {
        @Override
        SegmentStore store(SegmentStore store) {
            return new Forwarding(store) {
                @Override
                public void write(Path file, SegmentContent content) throws IOException {
                    try {
                        super.write(file, content);
                    } catch (IOException swallowed) {
                        return;
                    }
                }
            };
        }
    },

    /** Files of slower attempts and unneeded files are not deleted. */
    NOTHING_DISCARDED {
        @Override
        Executor discards(Executor discards) {
            return work -> {};
        }
    },

    /** The files of second attempts are not deleted. */
    LATER_ATTEMPTS_FORGOTTEN {
        @Override
        SegmentStore store(SegmentStore store) {
            return new Forwarding(store) {
                @Override
                public void delete(Path file) throws IOException {
                    if (SegmentName.of(file).orElseThrow().attempt() == 1) {
                        super.delete(file);
                    }
                }
            };
        }
    },

    /** Checkpoints say that nothing in them is new. */
    NOTHING_COUNTED,

    /** Failures are not retried. */
    RETRIES_FORGOTTEN {
        @Override
        Timers timers(Timers timers, DstlSettings settings) {
            return without(timers, delayMillis -> delayMillis >= 500);
        }
    },

    /** State changes are not uploaded when they reach their maximum age. */
    AGE_FORGOTTEN {
        @Override
        Timers timers(Timers timers, DstlSettings settings) {
            return without(timers, delayMillis -> delayMillis == settings.maxAgeMillis());
        }
    },

    /** Each segment is uploaded twice. */
    EVERYTHING_SENT_TWICE {
        @Override
        SegmentStore store(SegmentStore store) {
            return new Forwarding(store) {
                @Override
                public void write(Path file, SegmentContent content) throws IOException {
                    super.write(file, content);
                    String name = file.getName();
                    int attempt = name.lastIndexOf('-') + 1;
                    Path again =
                            new Path(
                                    file.getParent(),
                                    name.substring(0, attempt) + "9" + name.substring(attempt));
                    super.write(again, content);
                    super.delete(again);
                }
            };
        }
    },

    /** Upload threads always start late. */
    UPLOADS_DAWDLE {
        @Override
        ThreadStarts uploadThreads(ThreadStarts starts) {
            return () -> 8_000;
        }
    },

    /** Tasks always take input, however many bytes are in flight. */
    BUDGET_WITHOUT_LIMIT {
        @Override
        long maxInFlightBytes(DstlSettings settings) {
            return Long.MAX_VALUE;
        }
    },

    /** Compactions never run. */
    COMPACTIONS_FORGOTTEN {
        @Override
        Executor compactions(Executor compactions) {
            return work -> {};
        }
    },

    /** All local copies are lost. */
    LOCAL_COPIES_LOST,

    /** Two changelogs use the same file names. */
    INCARNATION_REUSED {
        @Override
        String incarnation(String incarnation) {
            return SegmentName.incarnation(1_700_000_000_000L, 1);
        }
    },

    /** An aborted checkpoint's segments are deleted by the TaskManager. */
    ABORT_DELETES,

    /** A closing task deletes persisted segments without a confirmed checkpoint. */
    UNCONFIRMED_DELETED_ON_CLOSE,

    /** A handle lacks its last position. */
    POSITION_DROPPED,

    /** The bytes of an aborted checkpoint stay reserved. */
    BUDGET_LEAKS;

    SegmentStore store(SegmentStore store) {
        return store;
    }

    Executor discards(Executor discards) {
        return discards;
    }

    Timers timers(Timers timers, DstlSettings settings) {
        return timers;
    }

    ThreadStarts uploadThreads(ThreadStarts starts) {
        return starts;
    }

    Executor compactions(Executor compactions) {
        return compactions;
    }

    long maxInFlightBytes(DstlSettings settings) {
        return settings.maxInFlightBytes();
    }

    /** Returns timers that drop actions with certain delays. */
    private static Timers without(Timers timers, LongPredicate forgotten) {
        return new Timers() {
            @Override
            public long nanoTime() {
                return timers.nanoTime();
            }

            @Override
            public Timer schedule(Runnable action, long delayMillis) {
                return forgotten.test(delayMillis)
                        ? () -> {}
                        : timers.schedule(action, delayMillis);
            }

            @Override
            public void every(long periodMillis, Runnable action) {
                if (!forgotten.test(periodMillis)) {
                    timers.every(periodMillis, action);
                }
            }
        };
    }

    String incarnation(String incarnation) {
        return incarnation;
    }

    private abstract static class Forwarding implements SegmentStore {
        private final SegmentStore store;

        private Forwarding(SegmentStore store) {
            this.store = store;
        }

        @Override
        public Path locate(SegmentName name) throws IOException {
            return store.locate(name);
        }

        @Override
        public void write(Path file, SegmentContent content) throws IOException {
            store.write(file, content);
        }

        @Override
        public void delete(Path file) throws IOException {
            store.delete(file);
        }

        @Override
        public void ping() throws IOException {
            store.ping();
        }
    }
}
