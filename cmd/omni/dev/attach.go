package dev

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// Attached is a cluster that another `omni dev` runs.
type Attached struct{ dir string }

// Attach finds the cluster in a data directory. The error is a *Problem.
func Attach(dir string) (*Attached, error) {
	if _, err := ReadFile(dir); err != nil {
		return nil, err
	}
	return &Attached{dir}, nil
}

// File is what dev.json says now.
func (a *Attached) File() File {
	f, err := ReadFile(a.dir)
	if err != nil {
		return File{} // it was there: its owner has ended
	}
	return f
}

// Signal sends a signal to the process of a node, if that is what still runs
// under its number.
func (a *Attached) Signal(id string, signal syscall.Signal) error {
	f, err := ReadFile(a.dir)
	if err != nil {
		return err
	}
	node, ok := f.Find(id)
	switch {
	case !ok:
		return fmt.Errorf("there is no node %s", id)
	case node.PID == 0:
		return fmt.Errorf("%s does not run at the moment", id)
	case !isNode(node.PID, id):
		return &Problem{Rule: fmt.Sprintf("process %d is not node %s any more", node.PID, id),
			Hint: "is omni dev still running on " + a.dir + "?"}
	}
	return syscall.Kill(node.PID, signal)
}

// isNode looks whether a process is that node. Where the system does not tell,
// the file is believed.
func isNode(pid int, id string) bool {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		_, noProc := os.Stat("/proc/self/cmdline")
		return noProc != nil
	}
	return bytes.Contains(line, []byte("\x00server\x00")) && bytes.Contains(line, []byte("\x00--node\x00"+id+"\x00"))
}
