/** The spillable heap as Flink loads it: state backend, its factory and the keyed backend. */
package dev.dstl.spillable;
