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

package dev.dstl.benchmarks.workload.words;

import dev.dstl.benchmarks.progress.ProgressBoard;
import dev.dstl.benchmarks.source.Pace;
import dev.dstl.benchmarks.source.StripedSource;
import dev.dstl.benchmarks.workload.Workload;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Counts the words of a text file per window of bytes and in total.
 *
 * <pre>
 *   source -> WordScanner -> by word: WordStatistics -> rows "window ..." and "word ..."
 * </pre>
 */
public final class WordWorkload implements Workload {

    private static final int SPLITS = 4;

    private final TextInput input;
    private final long windowBytes;

    /**
     * Creates a workload.
     *
     * @param windowBytes length of the windows in bytes
     */
    public WordWorkload(TextInput input, long windowBytes) {
        this.input = input;
        this.windowBytes = windowBytes;
    }

    @Override
    public DataStream<String> rows(
            StreamExecutionEnvironment environment, Pace pace, ProgressBoard board) {
        return environment
                .fromSource(
                        new StripedSource<>(input, SPLITS, pace, board),
                        WatermarkStrategy.forMonotonousTimestamps(),
                        "lines",
                        TypeInformation.of(TextLine.class))
                .uid("source")
                .flatMap(new WordScanner(), TypeInformation.of(Word.class))
                .name("words")
                .uid("words")
                .keyBy(word -> word.text, Types.STRING)
                .process(new WordStatistics(windowBytes, board), Types.STRING)
                .name("statistics")
                .uid("statistics");
    }
}
