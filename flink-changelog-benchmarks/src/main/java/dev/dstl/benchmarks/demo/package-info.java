/**
 * The command ./demo: a keyed job with much state, a killed process, and a comparison of backends.
 */
package dev.dstl.benchmarks.demo;
