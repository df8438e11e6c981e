/** The five kinds of keyed state, each a thin layer over a state table. */
package dev.dstl.spillable.state;
