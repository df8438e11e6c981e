/** The keyed jobs that the demo and the whole-job tests run. */
package dev.dstl.benchmarks.workload;
