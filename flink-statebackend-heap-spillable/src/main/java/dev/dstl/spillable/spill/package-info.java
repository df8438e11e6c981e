/** Moves state between heap and chunk files in small steps. */
package dev.dstl.spillable.spill;
