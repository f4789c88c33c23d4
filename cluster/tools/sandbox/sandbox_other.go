//go:build !linux

package sandbox

import (
	"errors"
	"os"
)

// Sandbox starts processes on Linux; there is none elsewhere.
type Sandbox struct{}

// Process is one that was started.
type Process struct{ Stdin, Stdout, Stderr, Usage *os.File }

// Open refuses.
func Open(Options) (*Sandbox, error) {
	return nil, errors.New("programs run in a sandbox, which there is for Linux only: leave --exec-dir away")
}

// Enter does nothing here.
func Enter() {}

// Level is how far processes are kept apart.
func (*Sandbox) Level() Level { return Plain }

// Why says what kept the level from being Full.
func (*Sandbox) Why() error { return nil }

// Start starts a process.
func (*Sandbox) Start(Command) (*Process, error) { return nil, errors.ErrUnsupported }

// Close lets go of the node's directory.
func (*Sandbox) Close() error { return nil }

// Kill ends a process with all that it started.
func (*Process) Kill() {}

// Wait waits for the end.
func (*Process) Wait() Exit { return Exit{Err: errLost} }
