// Package agentfile reads the files that people write for the command line:
// an agent for define and start, an instruction for submit, a run. They are YAML,
// and since JSON is YAML, JSON too.
//
// A command calls Read once, takes members from the File with JSON, and, when
// the cluster refuses a field, asks At where in the file that field stands.
//
// It accepts one plain document and nothing clever: no anchors, aliases, tags
// or merge keys, no repeated keys, no unknown fields, numbers as JSON writes
// them. What YAML would guess (dates, octal, yes) is text in quotes or an
// error. Every error names file, line, column and field.
//
// It never looks inside a program: instructions are the kernel's to judge.
package agentfile
