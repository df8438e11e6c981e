/** Segments that no retained checkpoint refers to. */
package dev.dstl.changelog.tool.orphan;
