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

package dev.dstl.changelog.differential;

import dev.dstl.changelog.differential.world.Violation;
import java.util.Objects;
import java.util.concurrent.Callable;
import javax.annotation.Nullable;

/** The result of an operation for a user function, or its failure. Immutable. */
final class Outcome {

    @Nullable private final String result;
    @Nullable private final Throwable failure;

    private Outcome(@Nullable String result, @Nullable Throwable failure) {
        this.result = result;
        this.failure = failure;
    }

    static Outcome of(Callable<String> operation) {
        try {
            return new Outcome(operation.call(), null);
        } catch (Exception e) {
            return new Outcome(null, e);
        }
    }

    boolean failed() {
        return failure != null;
    }

    boolean is(String text) {
        return text.equals(result);
    }

    Violation violation(String what, Outcome expected) {
        return new Violation(
                what + ": expected " + expected + ", found " + this,
                failure != null ? failure : expected.failure);
    }

    /** Whether both failed, with any message, or both have the same result. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Outcome
                && ((Outcome) other).failed() == failed()
                && Objects.equals(((Outcome) other).result, result);
    }

    @Override
    public int hashCode() {
        return Objects.hash(result, failed());
    }

    @Override
    public String toString() {
        return failure == null ? result : failure.toString();
    }
}
