/** File systems and the location of segments. */
package dev.dstl.log.store;
