/** Checkpoints without their job: where they lie and which segments they refer to. */
package dev.dstl.tool.checkpoint;
