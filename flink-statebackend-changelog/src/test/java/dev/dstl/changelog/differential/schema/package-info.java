/** Serializers, and the classes of each generation of a job. */
package dev.dstl.changelog.differential.schema;
