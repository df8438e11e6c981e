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

package dev.dstl.log.replay;

import dev.dstl.log.segment.FrameCursor;
import java.io.Closeable;
import java.io.IOException;

/** The frames of a handle, in order. Used by one thread. */
interface FrameSequence extends Closeable {

    /**
     * Points the cursor at the next frame. The previous frame must not be read any more.
     *
     * @return false at the end
     */
    boolean startNext(FrameCursor cursor) throws IOException;
}
