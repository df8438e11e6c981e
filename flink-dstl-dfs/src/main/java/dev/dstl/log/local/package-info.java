/** Copies of segments on the disks of the TaskManager, from which its tasks recover faster. */
package dev.dstl.log.local;
