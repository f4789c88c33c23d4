//go:build !linux

package dev

import "syscall"

// attributes of a child's process. It has a process group of its own, so that a
// Ctrl-C reaches this program alone and children are stopped in order.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
