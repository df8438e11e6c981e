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

package dev.dstl.changelog;

import dev.dstl.changelog.config.MisconfigurationException;
import dev.dstl.log.config.Release;
import java.security.CodeSource;
import org.apache.flink.runtime.state.StateBackend;

/**
 * Creates the state backend under the only class name that Flink recognizes as a changelog backend
 * on restore. Only types of the JDK and Flink cross this class, since the class of that name and
 * this one may come from different jars. Stateless and thread-safe.
 */
final class ShimLoader {

    private static final String SHIM = "org.apache.flink.state.changelog.ChangelogStateBackend";
    private static final String BACKEND = "dev.dstl.changelog.backend.LoggingStateBackend";

    private ShimLoader() {}

    /**
     * Wraps {@code delegate}.
     *
     * @param classLoader class loader of the job
     * @throws MisconfigurationException if Flink would load a class of that name that is not DSTL's
     */
    static StateBackend wrap(StateBackend delegate, ClassLoader classLoader) {
        Class<?> shim;
        try {
            shim = Class.forName(SHIM, false, classLoader);
        } catch (ClassNotFoundException e) {
            throw new MisconfigurationException(misplaced("there is no such class at all"));
        }
        if (!isDstlShim(shim)) {
            throw new MisconfigurationException(misplaced("it comes from " + originOf(shim)));
        }
        try {
            return (StateBackend) shim.getConstructor(StateBackend.class).newInstance(delegate);
        } catch (ReflectiveOperationException e) {
            throw new MisconfigurationException(
                    String.format(
                            "%s from %s does not fit %s from %s; put the same version of"
                                    + " dstl-flink-%s into lib/ of every Flink process, and"
                                    + " compile the job against it as 'provided'.",
                            SHIM,
                            originOf(shim),
                            ShimLoader.class.getName(),
                            originOf(ShimLoader.class),
                            Release.current().flinkLine()));
        }
    }

    private static boolean isDstlShim(Class<?> shim) {
        for (Class<?> type = shim; type != null; type = type.getSuperclass()) {
            if (type.getName().equals(BACKEND)) {
                return true;
            }
        }
        return false;
    }

    private static String misplaced(String found) {
        return String.format(
                "The changelog backend %s cannot run because Flink would not load its class %s (%s);"
                        + " put dstl-flink-%s-<version>.jar into lib/ of every Flink process, and"
                        + " mark it 'provided' in the job.",
                originOf(ShimLoader.class), SHIM, found, Release.current().flinkLine());
    }

    private static String originOf(Class<?> type) {
        CodeSource source = type.getProtectionDomain().getCodeSource();
        return source == null ? "an unknown place" : String.valueOf(source.getLocation());
    }
}
