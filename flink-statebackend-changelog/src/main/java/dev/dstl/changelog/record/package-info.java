/** How state changes become records: what one of each kind of state looks like in bytes. */
package dev.dstl.changelog.record;
