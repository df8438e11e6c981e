/** Fakes for the tests of every module: a store that fails on demand, time that stands still. */
package dev.dstl.log.testing;
