/** What a job runs on. */
package dev.dstl.changelog.differential.world;
