/** Changelog memory, shared by all jobs of a process. */
package dev.dstl.log.memory;
