/** Compares speed, size and snapshots of the backend with HashMap and RocksDB. */
package dev.dstl.spillable.benchmark;
