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

package dev.dstl.benchmarks.log;

/** A row of the result table. */
enum Measure {
    APPEND_TIME("append of a 100-byte record, task thread", "ns"),
    APPEND_CPU("append: CPU of the task thread", "ns"),
    APPEND_TASK_BYTES("append: allocated by the task thread", "B/rec"),
    APPEND_ALL_BYTES("append: allocated by all threads, upload included", "B/rec"),
    PERSIST_P50("persist 64 KiB on a store with a tail: p50", "ms"),
    PERSIST_P99("persist 64 KiB on a store with a tail: p99", "ms"),
    PERSIST_P999("persist 64 KiB on a store with a tail: p99.9", "ms"),
    PERSIST_REQUESTS("persist 64 KiB: requests to the store", "/flush"),
    PERSIST_EXTRA_PUTS("persist 64 KiB: PUT requests beyond one per flush", "%"),
    SMALL_P50("persist 10 KiB on a store with a tail: p50", "ms"),
    SMALL_P99("persist 10 KiB on a store with a tail: p99", "ms"),
    SMALL_REQUESTS("persist 10 KiB: requests to the store", "/flush"),
    SHARED_UPLOADS("64 writers flush 16 KiB each at once: uploads", "/flush"),
    SHARED_P50("64 writers flush 16 KiB each at once: p50", "ms"),
    SHARED_THROUGHPUT("64 writers at full speed: records made durable", "MB/s"),
    SHARED_AMPLIFICATION("64 writers at full speed: bytes written per record byte", "B/B"),
    SHARED_CPU("64 writers at full speed: CPU per record, all threads", "ns"),
    SHARED_PUTS("64 writers at full speed: PUT requests", "/s");

    private final String text;
    private final String unit;

    Measure(String text, String unit) {
        this.text = text;
        this.unit = unit;
    }

    String text() {
        return text;
    }

    String unit() {
        return unit;
    }
}
