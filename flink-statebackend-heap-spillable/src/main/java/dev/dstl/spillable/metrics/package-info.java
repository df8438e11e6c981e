/** The metrics of the module. */
package dev.dstl.spillable.metrics;
