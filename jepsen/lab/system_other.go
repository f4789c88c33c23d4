//go:build !linux

package lab

import (
	"errors"
	"os"
	"syscall"
)

// A lab is Linux's: Open and Sweep refuse before any of these is called.

const (
	sigStop = syscall.Signal(0)
	sigCont = syscall.Signal(0)
)

var (
	errLocked = errors.New("another program holds it")
	errLinux  = errors.New("a lab is Linux's")
)

func lockFile(*os.File, bool) error    { return errLinux }
func attributes() *syscall.SysProcAttr { return nil }
func unmount(string) error             { return errLinux }
func detach(string) error              { return errLinux }
func narrow(*os.File, int) error       { return errLinux }
func fill(*os.File) error              { return errLinux }
func writes(int, int) (bool, error)    { return false, errLinux }
func awaitStopped(int) error           { return errLinux }
