/**
 * A standalone Flink cluster of real processes on this machine, and the client that talks to it.
 */
package dev.dstl.benchmarks.cluster;
