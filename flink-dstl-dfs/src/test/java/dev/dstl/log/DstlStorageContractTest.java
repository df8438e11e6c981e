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

package dev.dstl.log;

import dev.dstl.log.config.DstlOptions;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.metrics.groups.UnregisteredMetricGroups;
import org.apache.flink.runtime.state.TestLocalRecoveryConfig;
import org.apache.flink.runtime.state.changelog.ChangelogStateHandleStreamImpl;
import org.apache.flink.runtime.state.changelog.StateChangelogStorage;
import org.apache.flink.runtime.state.changelog.inmemory.StateChangelogStorageTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Flink's contract of changelog storages. */
class DstlStorageContractTest extends StateChangelogStorageTest<ChangelogStateHandleStreamImpl> {

    private final List<DstlStorage> storages = new ArrayList<>();

    @AfterEach
    void close() {
        storages.forEach(DstlStorage::close);
    }

    DstlStorageFactory factory() {
        return new DstlStorageFactory();
    }

    /**
     * Disabled in Flink (FLINK-30729), which only logs a warning after an append to a closed
     * writer.
     */
    @Override
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    public void testNoAppendAfterClose(boolean compression) throws IOException {
        super.testNoAppendAfterClose(compression);
    }

    @Override
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    public void testWriteAndRead(boolean compression) throws Exception {
        super.testWriteAndRead(compression);
    }

    @Override
    protected StateChangelogStorage<ChangelogStateHandleStreamImpl> getFactory(
            boolean compression, File directory) {
        Configuration configuration =
                new Configuration()
                        .set(DstlOptions.BASE_PATH, directory.toURI().toString())
                        .set(DstlOptions.COMPRESSION_ENABLED, compression);
        DstlStorage storage =
                factory()
                        .createStorage(
                                new JobID(),
                                configuration,
                                UnregisteredMetricGroups
                                        .createUnregisteredTaskManagerJobMetricGroup(),
                                TestLocalRecoveryConfig.disabled());
        storages.add(storage);
        return storage;
    }
}
