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

package dev.dstl.benchmarks.cluster;

import java.io.IOException;
import java.util.Arrays;
import org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint;
import org.apache.flink.runtime.taskexecutor.TaskManagerRunner;

/**
 * The main class of every process of the cluster: runs Flink's own entry point, and ends the
 * process when the process that started it has ended.
 */
public final class ClusterProcessMain {

    /** Role of a process in the cluster. */
    enum Role {
        JOB_MANAGER,
        TASK_MANAGER
    }

    private static final int ORPHANED = 143;

    private ClusterProcessMain() {}

    /**
     * Runs a JobManager or a TaskManager until it is killed.
     *
     * @param arguments the {@link Role}, then Flink's own arguments
     */
    public static void main(String[] arguments) throws Exception {
        Thread watch = new Thread(ClusterProcessMain::endWithParent, "end-with-parent");
        watch.setDaemon(true);
        watch.start();
        String[] ofFlink = Arrays.copyOfRange(arguments, 1, arguments.length);
        switch (Role.valueOf(arguments[0])) {
            case JOB_MANAGER:
                StandaloneSessionClusterEntrypoint.main(ofFlink);
                break;
            case TASK_MANAGER:
                TaskManagerRunner.main(ofFlink);
                break;
            default:
                throw new IllegalArgumentException(arguments[0]);
        }
    }

    /** The parent never writes to standard input, so its end means that the parent has ended. */
    private static void endWithParent() {
        try {
            while (System.in.read() >= 0) {
                continue;
            }
        } catch (IOException e) {
            System.err.println("Lost the process that started this one: " + e);
        }
        Runtime.getRuntime().halt(ORPHANED);
    }
}
