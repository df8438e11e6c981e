/** Measurements of local processes and checkpoint metadata from outside. */
package dev.dstl.benchmarks.probe;
