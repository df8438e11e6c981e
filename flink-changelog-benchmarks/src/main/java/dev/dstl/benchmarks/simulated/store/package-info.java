/** The requests of the simulated object store: what each costs, how it fails, who counts it. */
package dev.dstl.benchmarks.simulated.store;
