/**
 * Every metric of the changelog state backend, under the names that Flink's built-in changelog gave
 * them.
 */
package dev.dstl.changelog.metrics;
