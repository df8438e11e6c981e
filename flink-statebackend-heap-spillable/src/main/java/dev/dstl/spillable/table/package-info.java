/**
 * Keyed states by name: of each its entries per key group, on the heap or spilled, and consistent
 * views of them.
 */
package dev.dstl.spillable.table;
