/**
 * Checkpoints: taking them, assembling their handles, and following them until they are subsumed.
 */
package dev.dstl.changelog.checkpoint;
