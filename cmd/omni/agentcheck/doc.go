// Package agentcheck looks at an agent before anybody starts it: it compiles the
// agent with the kernel's own compilers, looks for what cannot go well, and runs it
// on a kernel in this process whose tools are stubs.
//
// omni agent check calls Check once, with what it read of the agent's file, and shows
// the Report. What an agent needs is taken from its program as far as that is written
// out: names and arguments that are computed are known in the dry run only. Grants are
// judged by the kernel's own patterns. The dry run is the real kernel, with real
// budgets, permissions, children and deadlines; only its clock jumps to whatever comes
// next, and nothing leaves the process.
package agentcheck
