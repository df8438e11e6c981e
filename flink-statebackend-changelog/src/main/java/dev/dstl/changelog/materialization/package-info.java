/**
 * Snapshots of the delegate: when they start, where they run, which one is the base, and how much
 * of the changelog before it may go.
 */
package dev.dstl.changelog.materialization;
