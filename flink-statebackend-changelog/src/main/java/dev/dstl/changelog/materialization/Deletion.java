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

package dev.dstl.changelog.materialization;

import javax.annotation.Nullable;
import org.apache.flink.util.ExceptionUtils;
import org.apache.flink.util.function.ThrowingConsumer;

/** Deletes several files that do not depend on each other. */
final class Deletion {

    private Deletion() {}

    /**
     * Deletes each file, whatever the deletion of others throws, such as the error of a plugin that
     * misses a class.
     *
     * @throws Exception the first failure, which may be an error, with the others suppressed
     */
    static <T> void ofEach(Iterable<? extends T> files, ThrowingConsumer<T, Exception> delete)
            throws Exception {
        Throwable failure = null;
        for (T file : files) {
            failure = of(file, delete, failure);
        }
        if (failure != null) {
            ExceptionUtils.rethrowException(failure);
        }
    }

    @Nullable
    private static <T> Throwable of(
            T file, ThrowingConsumer<T, Exception> delete, @Nullable Throwable failure) {
        try {
            delete.accept(file);
            return failure;
        } catch (Throwable t) {
            return ExceptionUtils.firstOrSuppressed(t, failure);
        }
    }
}
