/** Restores keyed state from Flink's heap format and from its canonical savepoint format. */
package dev.dstl.spillable.restore;
