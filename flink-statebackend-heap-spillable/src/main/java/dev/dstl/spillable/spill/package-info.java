/** Moves state between heap and chunk files in small steps, and says what it did as metrics. */
package dev.dstl.spillable.spill;
