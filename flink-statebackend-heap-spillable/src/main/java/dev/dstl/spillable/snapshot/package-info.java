/** Snapshots in Flink's heap format and in its canonical savepoint format. */
package dev.dstl.spillable.snapshot;
