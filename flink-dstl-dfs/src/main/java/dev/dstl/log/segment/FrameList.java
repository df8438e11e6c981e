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

package dev.dstl.log.segment;

import java.io.IOException;
import java.io.InvalidObjectException;
import java.io.ObjectInputStream;
import java.io.Serializable;
import java.util.AbstractList;
import java.util.List;
import java.util.RandomAccess;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;

/**
 * The frames of a changelog handle: of each its segment and the offset in it. The JobManager holds
 * a handle for each keyed subtask and retained checkpoint, and most of them name what others name
 * too: the subtasks of a TaskManager share segments, and so do checkpoints. So this keeps three
 * fields per frame and shares paths among all lists of a process, and makes the objects that Flink
 * wants for the moment in which Flink wants them. New ones each time: Flink's registry of shared
 * state complains about one that it is shown twice.
 *
 * <p>Acknowledgements carry it in the bytes that {@link FrameListFormat} draws, with the directory
 * once, and so do the checkpoints that Flink stores for high availability. In checkpoint metadata,
 * Flink writes each frame out, with its whole path. Immutable.
 */
public final class FrameList extends AbstractList<Tuple2<StreamStateHandle, Long>>
        implements RandomAccess, Serializable {

    private static final long serialVersionUID = 1L;

    /**
     * False if this class was loaded by a class loader that the JobManager does not have, such as
     * that of a job.
     */
    private static final boolean KNOWN_TO_FLINK = isKnownToFlink();

    /** For each frame a {@link Path} or a {@link ByteStreamStateHandle}. */
    private final transient Object[] segments;

    private final transient long[] segmentBytes;
    private final transient long[] offsets;

    FrameList(Object[] segments, long[] segmentBytes, long[] offsets) {
        this.segments = segments;
        this.segmentBytes = segmentBytes;
        this.offsets = offsets;
    }

    /**
     * Returns the same frames in a form that takes less memory.
     *
     * @param frames segments with offsets of frames
     * @return {@code frames} itself if it contains segments other than files and bytes, or if the
     *     JobManager could not deserialize the result
     */
    public static List<Tuple2<StreamStateHandle, Long>> of(
            List<Tuple2<StreamStateHandle, Long>> frames) {
        if (!KNOWN_TO_FLINK) {
            return frames;
        }
        Object[] segments = new Object[frames.size()];
        long[] segmentBytes = new long[segments.length];
        long[] offsets = new long[segments.length];
        for (int i = 0; i < segments.length; i++) {
            StreamStateHandle segment = frames.get(i).f0;
            if (segment.getClass() == FileStateHandle.class) {
                segments[i] =
                        SharedPaths.ofProcess().share(((FileStateHandle) segment).getFilePath());
            } else if (segment.getClass() == ByteStreamStateHandle.class) {
                segments[i] = segment;
            } else {
                return frames;
            }
            segmentBytes[i] = segment.getStateSize();
            offsets[i] = frames.get(i).f1;
        }
        return new FrameList(segments, segmentBytes, offsets);
    }

    private static boolean isKnownToFlink() {
        ClassLoader flink = ChangelogStateHandleStreamImpl.class.getClassLoader();
        try {
            return Class.forName(FrameList.class.getName(), false, flink) == FrameList.class;
        } catch (ClassNotFoundException | LinkageError notOnItsClassPath) {
            return false;
        }
    }

    @Override
    public Tuple2<StreamStateHandle, Long> get(int index) {
        return Tuple2.of(segment(index), offsets[index]);
    }

    private StreamStateHandle segment(int index) {
        Object segment = segments[index];
        if (segment instanceof Path) {
            return new FileStateHandle((Path) segment, segmentBytes[index]);
        }
        ByteStreamStateHandle inline = (ByteStreamStateHandle) segment;
        return new ByteStreamStateHandle(inline.getHandleName(), inline.getData());
    }

    @Override
    public int size() {
        return segments.length;
    }

    private Object writeReplace() {
        return new Serialized(FrameListFormat.write(segments, segmentBytes, offsets));
    }

    private void readObject(ObjectInputStream in) throws InvalidObjectException {
        throw new InvalidObjectException("Only its bytes are serialized");
    }

    /** The serialized form. */
    private static final class Serialized implements Serializable {

        private static final long serialVersionUID = 1L;

        private final byte[] bytes;

        private Serialized(byte[] bytes) {
            this.bytes = bytes;
        }

        private Object readResolve() throws InvalidObjectException {
            try {
                return FrameListFormat.read(bytes);
            } catch (IOException e) {
                InvalidObjectException invalid = new InvalidObjectException(e.getMessage());
                invalid.initCause(e);
                throw invalid;
            }
        }
    }
}
