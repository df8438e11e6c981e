/**
 * The durable short-term log as Flink finds it: factories and storage, which put the packages below
 * together. Writing goes from writer over batch, commit, segment and upload to store; reading from
 * replay over segment.
 */
package dev.dstl.log;
