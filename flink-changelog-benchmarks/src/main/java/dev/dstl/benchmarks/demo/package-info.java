/** The demo: one keyed job, one killed process, one table. */
package dev.dstl.benchmarks.demo;
