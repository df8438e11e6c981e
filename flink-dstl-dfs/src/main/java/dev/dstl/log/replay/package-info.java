/**
 * Reading for a restore: a handle becomes records. Handles of Flink's storage {@code filesystem}
 * are read as well, never written.
 */
package dev.dstl.log.replay;
