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

package dev.dstl.spillable;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.spillable.config.SpillableOptions;
import java.io.IOException;
import java.io.InputStream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.Test;

/**
 * A backend that a job was given in code is part of the job, which Flink 1.20 serializes and high
 * availability stores for later releases.
 */
class StoredBackendTest {

    private static byte[] golden() throws IOException {
        try (InputStream file =
                StoredBackendTest.class.getResourceAsStream("/spillable-state-backend-v1.bin")) {
            return file.readAllBytes();
        }
    }

    @Test
    void whatHighAvailabilityStoredInVersion1_isRead() throws Exception {
        SpillableStateBackend backend =
                InstantiationUtil.deserializeObject(golden(), getClass().getClassLoader());
        assertThat(backend.useManagedMemory()).isTrue();
        assertThat(backend.configure(new Configuration(), getClass().getClassLoader())).isNotNull();
    }

    @Test
    void optionsAreNoPartOfIt_soTheyMayChange() throws Exception {
        Configuration config = new Configuration();
        config.set(SpillableOptions.CHUNK_SIZE, MemorySize.ofMebiBytes(2));
        SpillableStateBackend configured =
                new SpillableStateBackend().configure(config, getClass().getClassLoader());
        assertThat(InstantiationUtil.serializeObject(configured))
                .isEqualTo(InstantiationUtil.serializeObject(new SpillableStateBackend()))
                .hasSameSizeAs(golden());
    }
}
