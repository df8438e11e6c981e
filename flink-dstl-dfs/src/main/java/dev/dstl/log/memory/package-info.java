/** The memory that the logs of all jobs of a process share. */
package dev.dstl.log.memory;
