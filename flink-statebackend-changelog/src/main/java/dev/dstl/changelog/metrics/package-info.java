/** Every metric of the wrapper, under the names that Flink's own changelog backend gave them. */
package dev.dstl.changelog.metrics;
