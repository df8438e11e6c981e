/** Replay: records of the changelog are applied to the delegate, without being logged again. */
package dev.dstl.changelog.replay;
