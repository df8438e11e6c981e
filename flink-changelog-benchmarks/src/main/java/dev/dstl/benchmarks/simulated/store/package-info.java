/** Requests of the simulated object store: latency, outcomes and counters. */
package dev.dstl.benchmarks.simulated.store;
