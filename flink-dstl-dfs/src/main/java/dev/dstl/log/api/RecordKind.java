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

package dev.dstl.log.api;

/**
 * The effect of a record on its state. The kind alone decides which older records a newer one makes
 * obsolete; the changelog storage knows nothing else about state.
 *
 * <pre>
 *   kind            record key                        makes obsolete
 *   PUT             key, namespace [, map key]        older PUT, DELETE, APPEND of the same record key
 *   DELETE          key, namespace [, map key]        the same
 *   DELETE_PREFIX   key, namespace                    every older record with this key prefix
 *   APPEND          key, namespace                    nothing
 *   META            none (a state's registration)     nothing
 *   OPAQUE          none (bytes of another backend)   nothing
 * </pre>
 *
 * <p>A record key belongs to a state id; keys of different states are independent. The wire codes
 * are part of the format and never change. A new one requires a new version of the segment format,
 * which older releases refuse with the advice to use the newer one.
 */
public enum RecordKind {
    /** Sets the value of a record key. */
    PUT(1),
    /** Removes a record key. */
    DELETE(2),
    /** Removes every record key that begins with the given one. */
    DELETE_PREFIX(3),
    /** Adds to the value of a record key, a list. */
    APPEND(4),
    /** Registers a state; precedes the first record of that state in every persisted range. */
    META(5),
    /** Bytes that only their writer can interpret; never dropped or reordered. */
    OPAQUE(6);

    private static final RecordKind[] BY_CODE = new RecordKind[7];

    static {
        for (RecordKind kind : values()) {
            BY_CODE[kind.code] = kind;
        }
    }

    private final byte code;

    RecordKind(int code) {
        this.code = (byte) code;
    }

    /** Returns the byte that represents this kind in a segment. */
    public byte code() {
        return code;
    }

    /**
     * Returns the kind that a byte represents.
     *
     * @throws UnknownRecordKindException if no kind has this code
     */
    public static RecordKind of(byte code) {
        if (code < 1 || code >= BY_CODE.length) {
            throw new UnknownRecordKindException(code);
        }
        return BY_CODE[code];
    }
}
