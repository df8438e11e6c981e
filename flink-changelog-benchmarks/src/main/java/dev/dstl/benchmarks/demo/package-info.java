/** The demo: a keyed job with much state, a killed process, a comparison. */
package dev.dstl.benchmarks.demo;
