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

package dev.dstl.log.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.dstl.log.testing.ForeignException;
import java.io.IOException;
import org.apache.flink.util.InstantiationUtil;
import org.apache.flink.util.SerializedThrowable;
import org.junit.jupiter.api.Test;

class StoreExceptionTest {

    private final Exception said =
            new IOException("Upload failed", new ForeignException("404, NoSuchBucket"));

    @Test
    void whatAnotherProcessGets_isStillAnExceptionOfThisClass() throws Exception {
        StoreException thrown = StoreException.of(StoreException.describe(said), said);

        assertThat(sent(thrown))
                .isInstanceOf(StoreException.class)
                .hasMessage(
                        "IOException: Upload failed, caused by ForeignException: 404, NoSuchBucket");
        assertThat(sent(thrown).getStackTrace()).isEqualTo(said.getStackTrace());
        assertThat(sent(said)).as("what was thrown").isInstanceOf(SerializedThrowable.class);
    }

    @Test
    void messageThatIsInTheOneBefore_isNotRepeated() {
        ForeignException cause = new ForeignException("NoSuchBucket");
        assertThat(StoreException.describe(new IOException(cause.getMessage(), cause)))
                .isEqualTo("IOException: NoSuchBucket");
    }

    @Test
    void causesThatGoInACircle_areSaidOnce() {
        IOException first = new IOException("first");
        IOException second = new IOException("second", first);
        first.initCause(second);
        assertThat(StoreException.describe(first))
                .isEqualTo("IOException: first, caused by IOException: second");
    }

    private static Throwable sent(Throwable thrown) throws Exception {
        return InstantiationUtil.clone(new SerializedThrowable(thrown))
                .deserializeError(StoreExceptionTest.class.getClassLoader());
    }
}
