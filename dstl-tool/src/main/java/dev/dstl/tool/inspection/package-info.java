/**
 * Content of segments and of a checkpoint's changelog by state and key group, and verification that
 * the changelog can be restored.
 */
package dev.dstl.tool.inspection;
