/** From a barrier to a handle, and what becomes of the checkpoint afterwards. */
package dev.dstl.changelog.checkpoint;
