/** Copies of segments on the local disks of the TaskManager, for fast recovery. */
package dev.dstl.log.local;
