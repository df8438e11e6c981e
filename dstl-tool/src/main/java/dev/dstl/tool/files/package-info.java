/**
 * File access for the tool on any of Flink's file systems; failures become messages for the user.
 */
package dev.dstl.tool.files;
