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

package dev.dstl.tool;

import dev.dstl.tool.files.Directories;
import org.apache.flink.api.common.JobID;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses the id of a job as Flink prints it. */
final class JobIdConverter implements ITypeConverter<JobID> {

    @Override
    public JobID convert(String text) {
        if (!Directories.isJobId(text)) {
            throw new TypeConversionException(
                    String.format(
                            "expected the id of a job, 32 hexadecimal digits, found '%s'", text));
        }
        return JobID.fromHexString(text);
    }
}
