/**
 * The scheme {@code sim://}: a Flink file system over a simulated object store, for tests and
 * benchmarks that need a store with a latency, a tail, throttling and outages on one machine.
 */
package dev.dstl.benchmarks.simulated;
