/** Timers and threads, replaceable in tests. */
package dev.dstl.log.execution;
