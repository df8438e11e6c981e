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

package dev.dstl.log.testing;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDirFactory;

/**
 * Makes the temporary directories of tests, and deletes them although threads of what has ended may
 * still write there: an upload that a slow disk holds up ends after its task, and then deletes its
 * file. JUnit's own deletion fails if a file comes meanwhile, so {@code junit-platform.properties}
 * switches it off.
 */
public final class RetryingTempDirFactory implements TempDirFactory {

    private static final long PATIENCE_SECONDS = 30;

    private Path directory;

    /** Called by JUnit for each directory. */
    public RetryingTempDirFactory() {}

    @Override
    public Path createTempDirectory(
            AnnotatedElementContext elementContext, ExtensionContext extensionContext)
            throws IOException {
        directory = Files.createTempDirectory("junit-");
        return directory;
    }

    @Override
    public void close() throws IOException {
        delete(directory);
    }

    /**
     * Deletes a directory with all that is in it.
     *
     * @throws IOException if files still come or stay after 30 seconds
     */
    public static void delete(Path directory) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (Files.exists(directory)) {
            try {
                FileUtils.deleteDirectory(directory.toFile());
            } catch (IOException e) {
                if (System.nanoTime() > deadline) {
                    throw e;
                }
                pause();
            }
        }
    }

    private static void pause() throws InterruptedIOException {
        try {
            Thread.sleep(10);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while a directory was deleted");
        }
    }
}
