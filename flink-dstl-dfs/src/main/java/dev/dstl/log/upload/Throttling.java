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

package dev.dstl.log.upload;

import java.util.regex.Pattern;
import javax.annotation.Nullable;

/**
 * Distinguishes a throttling store from a failing one. The clients of the stores live in plugins
 * with class loaders of their own and share no exception type, but all of them include the message
 * of the store.
 */
final class Throttling {

    private static final int MAX_DEPTH = 20;

    private static final Pattern ASKS_FOR_LESS =
            Pattern.compile(
                    "slow ?down"
                            + "|reduce your request rate"
                            + "|throttl"
                            + "|too ?many ?requests"
                            + "|request(s)? ?limit ?exceeded"
                            + "|rate ?limit ?exceeded"
                            + "|server ?(is )?(too )?busy"
                            + "|service ?unavailable"
                            + "|(status|code|http)[ a-z:=]{0,20}(503|429)(?![0-9])",
                    Pattern.CASE_INSENSITIVE);

    private Throttling() {}

    /** Returns whether an exception or one of its causes reports too many requests. */
    static boolean isCauseOf(Throwable failure) {
        return isCauseOf(failure, 0);
    }

    private static boolean isCauseOf(@Nullable Throwable failure, int depth) {
        return failure != null
                && depth < MAX_DEPTH
                && (ASKS_FOR_LESS.matcher(failure.toString()).find()
                        || isCauseOf(failure.getCause(), depth + 1));
    }
}
