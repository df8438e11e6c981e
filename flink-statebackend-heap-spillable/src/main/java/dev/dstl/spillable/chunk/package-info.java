/** Chunk files on local disks: where they lie, how they are written, mapped and given back. */
package dev.dstl.spillable.chunk;
