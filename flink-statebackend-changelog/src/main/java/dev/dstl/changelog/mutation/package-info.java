/** The wrapper's way into the log: what a mutation of each kind of state looks like in bytes. */
package dev.dstl.changelog.mutation;
