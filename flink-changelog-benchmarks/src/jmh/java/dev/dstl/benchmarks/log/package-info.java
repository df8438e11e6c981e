/**
 * What the log alone costs, with stock Flink's log measured beside it: append on the task thread,
 * persist on a slow store, many writers on one TaskManager.
 */
package dev.dstl.benchmarks.log;
