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

package dev.dstl.spillable.incremental;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import javax.annotation.Nullable;

/**
 * The copies of one shared file on the local disk, one in each local checkpoint that has the file.
 * Flink deletes them with their checkpoints, at any time. Thread-safe.
 */
final class LocalCopies {

    private static final int MANY = 8;

    /** The newest one first: it is the last to be deleted. */
    private final Deque<Path> paths = new ArrayDeque<>();

    /** There is one more copy, complete. */
    synchronized void add(Path copy) {
        if (paths.size() >= MANY) {
            paths.removeIf(path -> !Files.exists(path));
        }
        paths.addFirst(copy);
    }

    /**
     * Makes {@code target} another name of a copy, or a copy of it where the disk has no hard
     * links.
     *
     * @return the copy, or null if there are none any more
     * @throws IOException if {@code target} cannot be written
     */
    @Nullable
    synchronized Path linkTo(Path target) throws IOException {
        return make(target, LocalCopies::linkOrCopy);
    }

    /**
     * As {@link #linkTo}, but only where the disk has hard links.
     *
     * @return the copy, or null if there are none any more, or no links
     */
    @Nullable
    synchronized Path linkOnlyTo(Path target) throws IOException {
        try {
            return make(target, Files::createLink);
        } catch (UnsupportedOperationException e) {
            return null;
        }
    }

    /** Makes one file of another. */
    private interface Maker {
        void make(Path target, Path source) throws IOException;
    }

    @Nullable
    private Path make(Path target, Maker maker) throws IOException {
        for (Iterator<Path> all = paths.iterator(); all.hasNext(); ) {
            Path path = all.next();
            try {
                maker.make(target, path);
                return path;
            } catch (NoSuchFileException e) {
                if (Files.exists(path)) {
                    throw e;
                }
                all.remove();
            }
        }
        return null;
    }

    private static void linkOrCopy(Path target, Path path) throws IOException {
        try {
            Files.createLink(target, path);
        } catch (NoSuchFileException e) {
            throw e;
        } catch (UnsupportedOperationException | IOException e) {
            Files.copy(path, target);
        }
    }
}
