/** Restore of the log: its records are applied to the delegate, unlogged. */
package dev.dstl.changelog.replay;
