/** Output of the tool: tables for people, JSON for programs, sentences for failures. */
package dev.dstl.tool.output;
