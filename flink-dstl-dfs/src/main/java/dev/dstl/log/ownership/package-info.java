/** Who may delete a segment, and the one class of the TaskManager that does. */
package dev.dstl.log.ownership;
