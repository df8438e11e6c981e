/** Where segments lie and how their bytes get there. */
package dev.dstl.log.store;
