/** Files as the tool meets them, on any of Flink's file systems; failures become sentences. */
package dev.dstl.tool.files;
