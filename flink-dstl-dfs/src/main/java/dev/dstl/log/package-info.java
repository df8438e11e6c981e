/**
 * The changelog storage as Flink loads it: factories, and the storage, which connects the packages
 * below. Writing goes from writer over batch, commit, segment and upload to store; reading from
 * replay over segment.
 */
package dev.dstl.log;
