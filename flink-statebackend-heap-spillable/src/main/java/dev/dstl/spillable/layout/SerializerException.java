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

package dev.dstl.spillable.layout;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.util.FlinkRuntimeException;

/**
 * A serializer cannot write or read an object; what it threw, no {@link IOException}, is the cause.
 */
public final class SerializerException extends IOException {

    private static final long serialVersionUID = 1L;

    SerializerException(TypeSerializer<?> serializer, Throwable cause) {
        super(serializer.getClass().getName() + " has failed: " + cause, cause);
    }

    /**
     * The exception of an access that throws no {@link IOException}. If a serializer has failed,
     * its cause is what the serializer threw, as in Flink's state backends.
     */
    public static RuntimeException unchecked(String message, IOException cause) {
        return cause instanceof SerializerException
                ? new FlinkRuntimeException(message, cause.getCause())
                : new UncheckedIOException(message, cause);
    }
}
