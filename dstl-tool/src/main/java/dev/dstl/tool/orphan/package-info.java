/** Segments that no retained checkpoint refers to. */
package dev.dstl.tool.orphan;
