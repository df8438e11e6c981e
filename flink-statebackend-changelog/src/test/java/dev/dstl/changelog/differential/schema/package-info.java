/** Serializers, and the classes of a job as they were at some time. */
package dev.dstl.changelog.differential.schema;
