// Package sandbox starts programs that are held on a short leash.
//
// A node makes one Sandbox with Open and starts processes with Start. Each has
// its own process group and session, an environment with nothing in it but what the
// command says, resource limits, and no way to gain privileges. Where the kernel
// lets it (Full) each has user, mount, PID, network, IPC and host name namespaces of
// its own: it sees the system's programs and libraries, the directory of programs and
// what the operator named, all to read; a directory to work in, which is a file
// system of its own, of bounded size, that vanishes with it; no other process and no
// network. Where the kernel does not (Plain) it runs with what is left, in a
// directory of the node's, and Sandbox.Level and Why tell.
//
// A process is started in two stages, both of which are this program under a hidden
// argument; main calls Enter first of all. The first is the process's init: it
// builds the file system, starts the second, adopts what is orphaned, and when the
// process has ended, or the node closes its pipe, or is gone, it kills whatever is
// left. The second gives up what is left to give up, and becomes the program.
//
//	node ── control pipe ──▶ stage 1 (init) ──▶ stage 2 ──▶ exec PROGRAM
//	     ◀── report pipe ─────┘                  │
//	     ◀── stdin, stdout, stderr, fd 3 ────────┘
//
// What is written to the control pipe is the specification, environment included: it
// is in nobody's arguments.
package sandbox
