/** Restore: from the handles of a checkpoint to a delegate that contains its state. */
package dev.dstl.changelog.restore;
