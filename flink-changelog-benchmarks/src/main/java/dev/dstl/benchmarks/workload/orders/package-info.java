/** The TPC-H workload: orders are joined with their line items and summed up by customer. */
package dev.dstl.benchmarks.workload.orders;
