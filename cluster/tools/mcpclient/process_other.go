//go:build !linux

package mcpclient

import (
	"os/exec"
	"syscall"
)

// attributes of a server's process: a group of its own.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitExit waits until a process has ended.
func awaitExit(cmd *exec.Cmd) {
	_ = cmd.Wait() // how it ended does not matter
}
