/** Speed, size and snapshots of the backend beside HashMap and RocksDB. */
package dev.dstl.spillable.benchmark;
