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

package dev.dstl.tool.output;

/** The tool cannot go on. The message is one sentence for the user that says what to do. */
public final class ToolException extends Exception {

    private static final long serialVersionUID = 1L;

    /** Creates an exception without a cause. */
    public ToolException(String sentence) {
        super(sentence);
    }

    /**
     * Creates an exception.
     *
     * @param cause shown on demand only; may be null
     */
    public ToolException(String sentence, Throwable cause) {
        super(sentence, cause);
    }
}
