/** What the whole-job benchmarks measured, as it is written to JSON and read from it. */
package dev.dstl.benchmarks.measurement;
