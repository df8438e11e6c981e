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

package dev.dstl.endtoend.recovery;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.ObjectName;

/** Counts the reachable objects of this process. */
public final class ClassHistogram {

    private static final Pattern LINE = Pattern.compile("\\d+: +(\\d+) +\\d+ +(\\S+)");

    private ClassHistogram() {}

    /**
     * Counts by class, after a garbage collection; objects of generated classes are counted with
     * the class they belong to.
     *
     * @param classes pattern of the names of classes to count
     */
    public static Map<String, Long> of(Pattern classes) throws JMException {
        Object histogram =
                ManagementFactory.getPlatformMBeanServer()
                        .invoke(
                                new ObjectName("com.sun.management:type=DiagnosticCommand"),
                                "gcClassHistogram",
                                new Object[] {null},
                                new String[] {String[].class.getName()});
        Map<String, Long> objects = new TreeMap<>();
        Matcher line = LINE.matcher(String.valueOf(histogram));
        while (line.find()) {
            String name = line.group(2);
            if (classes.matcher(name).matches()) {
                objects.merge(
                        name.replaceAll("\\$\\$Lambda.*", " lambdas"),
                        Long.parseLong(line.group(1)),
                        Long::sum);
            }
        }
        return objects;
    }
}
