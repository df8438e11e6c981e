/**
 * What access to keyed state costs the task thread, and how fast a changelog is replayed: with
 * DSTL, with Flink's built-in changelog, and with none, each on a class path of its own.
 */
package dev.dstl.benchmarks.state;
