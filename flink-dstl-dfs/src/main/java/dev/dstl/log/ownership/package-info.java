/** Which process deletes a segment, and the only class of the TaskManager that deletes segments. */
package dev.dstl.log.ownership;
