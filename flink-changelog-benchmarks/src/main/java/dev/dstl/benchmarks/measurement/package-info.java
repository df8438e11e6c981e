/** What the end-to-end benchmarks measured, as it is written to JSON and read from it. */
package dev.dstl.benchmarks.measurement;
