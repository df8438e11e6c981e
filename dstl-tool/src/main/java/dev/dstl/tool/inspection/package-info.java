/**
 * What is in a segment or in the changelog of a checkpoint, by state and key group, and whether the
 * checkpoint could be restored as far as its changelog goes.
 */
package dev.dstl.tool.inspection;
