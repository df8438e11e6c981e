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

package dev.dstl.changelog.differential.world;

import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.util.function.Consumer;

/** Visits all objects that handles of any kind consist of, as they are sent. */
final class HandleVisitor extends ObjectOutputStream {

    private final Consumer<Object> visitor;

    private HandleVisitor(Consumer<Object> visitor) throws IOException {
        super(OutputStream.nullOutputStream());
        this.visitor = visitor;
        enableReplaceObject(true);
    }

    static void visit(Object handles, Consumer<Object> visitor) throws IOException {
        try (HandleVisitor stream = new HandleVisitor(visitor)) {
            stream.writeObject(handles);
        }
    }

    @Override
    protected Object replaceObject(Object object) {
        visitor.accept(object);
        return object;
    }
}
