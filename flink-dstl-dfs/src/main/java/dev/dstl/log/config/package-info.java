/** What the user may set, and the checked values everything else takes. */
package dev.dstl.log.config;
