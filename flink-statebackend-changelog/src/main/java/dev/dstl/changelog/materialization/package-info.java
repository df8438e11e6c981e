/**
 * Materialization: when it starts, where it runs, which snapshot is the base, and truncation of the
 * changelog before it.
 */
package dev.dstl.changelog.materialization;
