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
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Set;
import java.util.TreeSet;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;

/** Collects the files that handles of any kind refer to. */
final class ReferencedFiles {

    private final Set<Path> files = new TreeSet<>();

    private ReferencedFiles() {}

    static Set<Path> of(Object handles) throws IOException {
        ReferencedFiles referenced = new ReferencedFiles();
        HandleVisitor.visit(handles, referenced::visit);
        return referenced.files;
    }

    private void visit(Object object) {
        if (object instanceof FileStateHandle) {
            add((FileStateHandle) object);
        } else if (object instanceof ChangelogStateHandleStreamImpl) {
            // It writes other objects than it consists of.
            for (Tuple2<StreamStateHandle, Long> frame :
                    ((ChangelogStateHandleStreamImpl) object).getHandlesAndOffsets()) {
                if (frame.f0 instanceof FileStateHandle) {
                    add((FileStateHandle) frame.f0);
                }
            }
        }
    }

    private void add(FileStateHandle file) {
        files.add(Paths.get(file.getFilePath().getPath()));
    }
}
