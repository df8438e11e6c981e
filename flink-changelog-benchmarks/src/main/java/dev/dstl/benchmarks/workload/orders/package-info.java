/** The TPC-H workload: orders meet their line items, customers add up their orders. */
package dev.dstl.benchmarks.workload.orders;
