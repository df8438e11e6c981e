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

package dev.dstl.endtoend.docs;

import dev.dstl.changelog.metrics.CheckpointMetrics;
import dev.dstl.changelog.metrics.MaterializationMetrics;
import dev.dstl.changelog.metrics.RestoreMetrics;
import dev.dstl.log.DstlStorage;
import dev.dstl.log.config.DstlOptions;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.metrics.groups.AbstractMetricGroup;
import org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups;
import org.apache.flink.runtime.state.KeyGroupRange;

/** The metrics that the code registers, by Flink's metric group. */
final class RegisteredMetrics {

    private static final Pattern SPILLABLE = Pattern.compile("[gG]auge\\(\\s*\"(\\w+)\"");

    private RegisteredMetrics() {}

    /** Metrics of a job on a TaskManager with a changelog at {@code basePath}. */
    static Set<String> ofJob(Path basePath) throws Exception {
        RecordingMetricGroup group = new RecordingMetricGroup();
        Configuration configuration = new Configuration();
        configuration.set(DstlOptions.BASE_PATH, basePath.toUri().toString());
        try (DstlStorage storage = new DstlStorage(new JobID(), configuration, group)) {
            storage.createWriter("operator", KeyGroupRange.of(0, 1), null).close();
            return group.names();
        }
    }

    /** Metrics of a subtask of an operator. */
    static Set<String> ofOperator() {
        RecordingMetricGroup group = new RecordingMetricGroup();
        new MaterializationMetrics(group);
        new CheckpointMetrics(group);
        RestoreMetrics.of(group, () -> 0L);
        return group.names();
    }

    /** Metrics of a subtask of an operator on the spillable heap. */
    static Set<String> ofSpillableHeap() {
        Path source =
                Documentation.ROOT.resolve(
                        "flink-statebackend-heap-spillable/src/main/java/"
                                + "dev/dstl/spillable/spill/SpillMetrics.java");
        Set<String> names = new TreeSet<>();
        Matcher matcher = SPILLABLE.matcher(Documentation.text(source));
        while (matcher.find()) {
            names.add("spillable." + matcher.group(1));
        }
        return names;
    }

    /** Every name as the Prometheus reporter exports it. */
    static Set<String> exported(Path basePath) throws Exception {
        Set<String> exported = new TreeSet<>();
        String job =
                scopeOf(UnregisteredMetricGroups.createUnregisteredTaskManagerJobMetricGroup());
        String operator = scopeOf(UnregisteredMetricGroups.createUnregisteredOperatorMetricGroup());
        ofJob(basePath).forEach(name -> exported.add(exported(job, name)));
        ofOperator().forEach(name -> exported.add(exported(operator, name)));
        ofSpillableHeap().forEach(name -> exported.add(exported(operator, name)));
        return exported;
    }

    private static String scopeOf(Object group) {
        return ((AbstractMetricGroup<?>) group).getLogicalScope(name -> name, '_');
    }

    private static String exported(String scope, String name) {
        return "flink_" + scope + "_" + name.replaceAll("[^a-zA-Z0-9:_]", "_");
    }
}
