/** What Flink sees: the state backend and its keyed backend, wired from the packages beside. */
package dev.dstl.changelog.backend;
