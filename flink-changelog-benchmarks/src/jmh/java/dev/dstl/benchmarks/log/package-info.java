/**
 * What the changelog alone costs, with Flink's built-in changelog for comparison: append on the
 * task thread, persist on a slow store, many writers on one TaskManager.
 */
package dev.dstl.benchmarks.log;
