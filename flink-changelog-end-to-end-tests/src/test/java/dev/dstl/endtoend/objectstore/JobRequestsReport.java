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

import static dev.dstl.endtoend.objectstore.FrontedS3.prefix;
import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.endtoend.objectstore.front.RequestTally;
import dev.dstl.endtoend.objectstore.job.SummingJob;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.state.changelog.ChangelogStateBackend;
import org.junit.jupiter.api.Test;

/**
 * Reports the requests of a job to S3, with whichever changelog is on the class path;
 * docs/object-stores.md has the commands for DSTL and for Flink's built-in changelog. Uses nothing
 * that only DSTL has.
 */
class JobRequestsReport {

    @Test
    void countRequestsOfAJob() throws Exception {
        try (FrontedS3 store = FrontedS3.start(new Configuration())) {
            org.apache.flink.core.fs.Path root = store.newRoot();
            // Both know this identifier, and both mean their own storage.
            assertThat(new SummingJob("filesystem", root).run()).isEqualTo(SummingJob.expected());
            RequestTally all = afterTheLastOne(store);
            String log = prefix(SummingJob.log(root));
            Path report = Paths.get("target", "job-requests.txt");
            Files.writeString(
                    report,
                    String.format(
                            "%s%n  log:  %s%n  rest: %s%n",
                            changelog(), all.below(log), all.notBelow(log)));
            assertThat(report).isNotEmptyFile();
        }
    }

    /** Waits for deletions after the end of the job; Flink's built-in changelog has no deadline. */
    private static RequestTally afterTheLastOne(FrontedS3 store) throws InterruptedException {
        String before = "";
        RequestTally now = store.front().requests();
        while (!before.equals(now.toString())) {
            before = now.toString();
            Thread.sleep(3_000);
            now = store.front().requests();
        }
        return now;
    }

    private static String changelog() {
        String source =
                ChangelogStateBackend.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .getPath();
        return "The changelog of " + source.substring(source.lastIndexOf("flink-"));
    }
}
