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

package dev.dstl.spillable.size;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;

/** Lengths of objects on the heap of this process, in bytes, as HotSpot lays them out. */
public final class ObjectLayout {

    private static final boolean COMPRESSED_REFERENCES = findCompressedReferences();

    /** Of a reference in a field or an array. */
    static final int REFERENCE_BYTES = COMPRESSED_REFERENCES ? 4 : 8;

    /** Of an object's header, with compressed class pointers. */
    static final int HEADER_BYTES = 12;

    private static final int ARRAY_HEADER_BYTES = 16;
    private static final int ALIGNMENT = 8;

    private ObjectLayout() {}

    /** Whether a reference takes four bytes, as on heaps below 32 GB, instead of eight. */
    public static boolean hasCompressedReferences() {
        return COMPRESSED_REFERENCES;
    }

    private static boolean findCompressedReferences() {
        try {
            HotSpotDiagnosticMXBean vm =
                    ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
            return vm == null
                    || Boolean.parseBoolean(vm.getVMOption("UseCompressedOops").getValue());
        } catch (IllegalArgumentException e) {
            // Another JVM, or one without this option.
            return true;
        }
    }

    /** Of an object with that many bytes of fields. */
    static long object(long fieldBytes) {
        return aligned(HEADER_BYTES + fieldBytes);
    }

    /** Of an object with that many references and bytes of other fields. */
    static long object(int references, int otherBytes) {
        return object((long) references * REFERENCE_BYTES + otherBytes);
    }

    static long array(long length, int elementBytes) {
        return aligned(ARRAY_HEADER_BYTES + length * elementBytes);
    }

    private static long aligned(long bytes) {
        return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
    }
}
