/** Measures on samples how much heap the entries of a state take. */
package dev.dstl.spillable.size;
