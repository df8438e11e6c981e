/** From the handles of a checkpoint to a delegate that holds its state. */
package dev.dstl.changelog.restore;
