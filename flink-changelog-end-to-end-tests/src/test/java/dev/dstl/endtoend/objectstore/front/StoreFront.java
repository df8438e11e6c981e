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

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.dstl.benchmarks.simulated.store.RequestType;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * Listens on the loopback interface and forwards everything to an S3 server. Records every request,
 * including those that it lets fail. One request per connection.
 */
public final class StoreFront implements AutoCloseable {

    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final ServerSocket socket;
    private final URI store;
    private final FaultPlan faults = new FaultPlan();
    private final ExecutorService threads =
            Executors.newCachedThreadPool(
                    task -> {
                        Thread thread = new Thread(task, "store-front");
                        thread.setDaemon(true);
                        return thread;
                    });

    @GuardedBy("this")
    private final List<SeenRequest> requests = new ArrayList<>();

    @GuardedBy("this")
    private int held;

    @GuardedBy("this")
    private boolean holding = true;

    private StoreFront(ServerSocket socket, URI store) {
        this.socket = socket;
        this.store = store;
    }

    /** Starts a front of the server at an address. */
    public static StoreFront of(URI store) throws IOException {
        StoreFront front =
                new StoreFront(new ServerSocket(0, 100, InetAddress.getLoopbackAddress()), store);
        front.threads.execute(front::accept);
        return front;
    }

    public URI address() {
        return URI.create("http://127.0.0.1:" + socket.getLocalPort());
    }

    /** All requests so far. */
    public synchronized RequestTally requests() {
        return new RequestTally(requests);
    }

    public synchronized void forgetRequests() {
        requests.clear();
    }

    /**
     * Lets the next requests of a type fail.
     *
     * @param keys which ones
     */
    public void fail(FrontFault fault, RequestType type, Predicate<String> keys, int times) {
        faults.add(fault, type, keys, times);
    }

    /** Removes all faults. */
    public void heal() {
        faults.clear();
    }

    /** Waits until {@code count} requests are held. */
    public synchronized void awaitHeld(int count) throws InterruptedException {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (held < count) {
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (left <= 0) {
                throw new AssertionError(held + " requests are held, not " + count);
            }
            wait(left);
        }
    }

    /** Releases held requests, and holds no further ones. */
    public synchronized void releaseHeld() {
        holding = false;
        notifyAll();
    }

    @Override
    public void close() throws IOException {
        releaseHeld();
        socket.close();
        threads.shutdownNow();
    }

    private void accept() {
        while (!socket.isClosed()) {
            try {
                Socket client = socket.accept();
                threads.execute(() -> serve(client));
            } catch (IOException | RuntimeException e) {
                if (!socket.isClosed()) {
                    throw new IllegalStateException("The front does not listen any more", e);
                }
            }
        }
    }

    private void serve(Socket client) {
        try (client) {
            OutputStream out = client.getOutputStream();
            HttpRequest request =
                    HttpRequest.read(new BufferedInputStream(client.getInputStream()), out);
            if (request != null) {
                answer(request, client, out);
            }
        } catch (IOException clientWentAway) {
            return;
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
        }
    }

    private void answer(HttpRequest request, Socket client, OutputStream out)
            throws IOException, InterruptedException {
        SeenRequest seen = request.seen();
        synchronized (this) {
            requests.add(seen);
        }
        Optional<FrontFault> fault = faults.next(seen);
        if (fault.isEmpty()) {
            out.write(passOn(request));
            return;
        }
        switch (fault.get()) {
            case SLOW_DOWN:
                out.write(error("503 Slow Down", "SlowDown", "Please reduce your request rate."));
                break;
            case FORBIDDEN:
                out.write(error("403 Forbidden", "AccessDenied", "Access Denied"));
                break;
            case RESET:
                reset(client);
                break;
            case LOSE_ACKNOWLEDGEMENT:
                passOn(request);
                reset(client);
                break;
            case HOLD:
                hold();
                out.write(passOn(request));
                break;
        }
    }

    private byte[] passOn(HttpRequest request) throws IOException {
        try (Socket server = new Socket(store.getHost(), store.getPort())) {
            request.write(server.getOutputStream());
            InputStream answer = server.getInputStream();
            return answer.readAllBytes();
        }
    }

    private synchronized void hold() throws InterruptedException {
        held++;
        notifyAll();
        while (holding) {
            wait();
        }
        held--;
    }

    private static byte[] error(String status, String code, String message) {
        String body =
                String.format(
                        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>%s</Code>"
                                + "<Message>%s</Message></Error>",
                        code, message);
        return String.format(
                        "HTTP/1.1 %s\r\nContent-Type: application/xml\r\nConnection: close\r\n"
                                + "Content-Length: %d\r\n\r\n%s",
                        status, body.length(), body)
                .getBytes(StandardCharsets.US_ASCII);
    }

    /** Closes a connection with a reset instead of an orderly end. */
    private static void reset(Socket client) throws IOException {
        client.setSoLinger(true, 0);
        client.close();
    }
}
