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

package dev.dstl.endtoend.feature;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.QueryableStateOptions;
import org.apache.flink.queryablestate.client.QueryableStateClient;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Flink's queryable state, deprecated but still present, works with a changelog. */
@SuppressWarnings("deprecation")
class QueryableStateITCase {

    @TempDir private Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"rocksdb", "hashmap"})
    void stateOfARunningJob_isAnsweredByKey(String delegate) throws Exception {
        TotalsJob totals = new TotalsJob(delegate, directory);
        int port = enableQueries(totals);
        try (TotalsCluster cluster = new TotalsCluster(totals)) {
            JobID job = cluster.run();
            QueryableStateClient client =
                    new QueryableStateClient(InetAddress.getLoopbackAddress(), port);
            try {
                assertThat(answers(client, job)).isEqualTo(TotalsJob.expected());
            } finally {
                client.shutdownAndWait();
            }
        }
    }

    private static Map<Long, Long> answers(QueryableStateClient client, JobID job)
            throws Exception {
        Map<Long, Long> answers = new TreeMap<>();
        for (Long key : TotalsJob.expected().keySet()) {
            answers.put(
                    key,
                    client.getKvState(
                                    job,
                                    TotalsJob.queryableName(),
                                    key,
                                    Types.LONG,
                                    TotalsJob.total())
                            .get(1, TimeUnit.MINUTES)
                            .value());
        }
        return answers;
    }

    /** Returns the port of the queryable state proxy. */
    private static int enableQueries(TotalsJob totals) throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        totals.configuration().set(QueryableStateOptions.ENABLE_QUERYABLE_STATE_PROXY_SERVER, true);
        totals.configuration().set(QueryableStateOptions.PROXY_PORT_RANGE, Integer.toString(port));
        totals.configuration().set(QueryableStateOptions.SERVER_PORT_RANGE, "0");
        return port;
    }
}
