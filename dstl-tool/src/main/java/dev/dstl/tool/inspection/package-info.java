/** What is in a segment or in the log of a checkpoint, by state and key group. */
package dev.dstl.tool.inspection;
