/** Timers and threads, replaceable in tests, and reports of failures. */
package dev.dstl.log.execution;
