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

package dev.dstl.endtoend.objectstore.front;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A request as received from a connection. Its bytes are forwarded unchanged, so that its signature
 * stays valid, except for headers that concern the connection only.
 */
final class HttpRequest {

    private final List<String> head;
    private final byte[] body;

    private HttpRequest(List<String> head, byte[] body) {
        this.head = head;
        this.body = body;
    }

    /**
     * Reads a request.
     *
     * @param answers where a client that asks whether to go on is told so
     * @return null at the end of the connection
     */
    static HttpRequest read(InputStream in, OutputStream answers) throws IOException {
        String first = line(in);
        if (first == null) {
            return null;
        }
        List<String> head = new ArrayList<>();
        head.add(first);
        int length = 0;
        for (String header = line(in); header != null && !header.isEmpty(); header = line(in)) {
            String lower = header.toLowerCase(Locale.ROOT);
            if (lower.startsWith("content-length:")) {
                length = Integer.parseInt(header.substring(header.indexOf(':') + 1).trim());
            }
            if (lower.startsWith("expect:")) {
                answers.write(ascii("HTTP/1.1 100 Continue\r\n\r\n"));
                answers.flush();
            } else if (!lower.startsWith("connection:")) {
                head.add(header);
            }
        }
        return new HttpRequest(head, in.readNBytes(length));
    }

    /** Returns the request as recorded. */
    SeenRequest seen() {
        String[] words = head.get(0).split(" ", -1);
        return SeenRequest.of(words[0], words[1]);
    }

    /** Forwards the request; the server closes the connection after its response. */
    void write(OutputStream out) throws IOException {
        ByteArrayOutputStream whole = new ByteArrayOutputStream();
        whole.writeBytes(ascii(String.join("\r\n", head) + "\r\nConnection: close\r\n\r\n"));
        whole.writeBytes(body);
        // At once: a server that refuses after the header must not find the connection busy.
        whole.writeTo(out);
        out.flush();
    }

    private static String line(InputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                if (line.size() == 0) {
                    return null;
                }
                throw new EOFException("The client went away in the middle of a header");
            }
            if (next != '\r') {
                line.write(next);
            }
        }
        return line.toString(StandardCharsets.ISO_8859_1);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
