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

import java.text.Normalizer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The anchors that the headings of a page have. */
final class Headings {

    private static final Pattern CODE =
            Pattern.compile("^```.*?^```$", Pattern.DOTALL | Pattern.MULTILINE);
    private static final Pattern HEADING =
            Pattern.compile("^#{1,6} +(.*?)(?: +#+)? *$", Pattern.MULTILINE);
    private static final Pattern LINK = Pattern.compile("!?\\[([^]]*)]\\([^)]*\\)");

    private Headings() {}

    /** Returns the anchors that lead to the same heading on GitHub and on the site. */
    static Set<String> anchors(String page) {
        List<String> headings = new ArrayList<>();
        for (MatchResult heading :
                (Iterable<MatchResult>)
                        HEADING.matcher(CODE.matcher(page).replaceAll("")).results()::iterator) {
            headings.add(LINK.matcher(heading.group(1)).replaceAll("$1").replaceAll("[`*]", ""));
        }
        Set<String> anchors = new HashSet<>();
        Set<String> onGitHub = new HashSet<>();
        Set<String> onTheSite = new HashSet<>();
        for (String heading : headings) {
            String anchor = unique(onGitHub, onGitHub(heading), "-");
            if (unique(onTheSite, onTheSite(heading), "_").equals(anchor)) {
                anchors.add(anchor);
            }
        }
        return anchors;
    }

    private static String onGitHub(String heading) {
        return heading.toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N}_ -]", "")
                .replace(' ', '-');
    }

    /** As the extension toc of Python-Markdown. */
    private static String onTheSite(String heading) {
        return Normalizer.normalize(heading, Normalizer.Form.NFKD)
                .replaceAll("[^\\p{ASCII}]", "")
                .replaceAll("[^\\w\\s-]", "")
                .strip()
                .toLowerCase(Locale.ROOT)
                .replaceAll("[-\\s]+", "-");
    }

    private static String unique(Set<String> taken, String anchor, String separator) {
        String unique = anchor;
        for (int number = 1; !taken.add(unique); number++) {
            unique = anchor + separator + number;
        }
        return unique;
    }
}
