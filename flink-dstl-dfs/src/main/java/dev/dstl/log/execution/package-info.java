/** Time and threads, so that everything else can be run by hand in a test. */
package dev.dstl.log.execution;
