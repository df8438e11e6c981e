/** A bounded, rate-limited Flink source over an input that can be read again from any position. */
package dev.dstl.benchmarks.source;
