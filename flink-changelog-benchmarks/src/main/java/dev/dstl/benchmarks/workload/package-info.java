/** The keyed jobs that the demo and the end-to-end tests run. */
package dev.dstl.benchmarks.workload;
