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

package dev.dstl.log;

import java.util.List;
import javax.annotation.Nullable;
import org.apache.flink.util.ExceptionUtils;

/** Closes several things that do not depend on each other. */
final class Closing {

    private Closing() {}

    /**
     * Runs all steps, whatever some of them throw. Throws the first failure at the end, with the
     * others suppressed.
     */
    static void all(List<Runnable> steps) {
        Throwable failure = null;
        for (Runnable step : steps) {
            failure = run(step, failure);
        }
        if (failure != null) {
            ExceptionUtils.rethrow(failure);
        }
    }

    @Nullable
    private static Throwable run(Runnable step, @Nullable Throwable failure) {
        try {
            step.run();
            return failure;
        } catch (Throwable t) {
            // Such as a thread that cannot be started.
            return ExceptionUtils.firstOrSuppressed(t, failure);
        }
    }
}
