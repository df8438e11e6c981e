/** Snapshots of the delegate: when they start, where they run, and which one is the base. */
package dev.dstl.changelog.materialization;
