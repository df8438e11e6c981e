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

package dev.dstl.benchmarks.cost;

/**
 * List prices of Amazon S3 Standard in us-east-1, in USD, from https://aws.amazon.com/s3/pricing/.
 * Transfer within the region and deletions are free.
 */
enum StorePrices {
    /** Price of a PUT, COPY, POST or LIST. */
    WRITE(0.005 / 1_000),
    /** Price of a GET, HEAD or other request. */
    READ(0.000_4 / 1_000),
    /** Price of a gigabyte per month, for the first 50 TB. */
    GIGABYTE_MONTH(0.023);

    /** Thirty days. */
    static final long SECONDS_PER_MONTH = 30L * 24 * 3_600;

    private final double dollars;

    StorePrices(double dollars) {
        this.dollars = dollars;
    }

    double dollars() {
        return dollars;
    }
}
