/** How full the heap is with live objects, and who should spill or load because of it. */
package dev.dstl.spillable.pressure;
