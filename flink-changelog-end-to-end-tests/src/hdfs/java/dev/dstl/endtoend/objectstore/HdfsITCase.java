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

package dev.dstl.endtoend.objectstore;

import java.io.IOException;
import java.nio.file.Path;
import org.apache.flink.configuration.Configuration;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** HDFS through Flink's own file system for it, which needs Hadoop on the class path. */
class HdfsITCase extends ObjectStoreContract {

    @TempDir private static Path directory;
    private static MiniDFSCluster cluster;

    @BeforeAll
    static void startCluster() throws IOException {
        HdfsConfiguration configuration = new HdfsConfiguration();
        configuration.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, directory.toString());
        cluster = new MiniDFSCluster.Builder(configuration).numDataNodes(1).build();
        cluster.waitActive();
    }

    @AfterAll
    static void stopCluster() {
        if (cluster != null) {
            cluster.shutdown();
        }
    }

    @Override
    Configuration configuration() {
        return new Configuration();
    }

    @Override
    org.apache.flink.core.fs.Path store() {
        return new org.apache.flink.core.fs.Path(cluster.getURI());
    }
}
