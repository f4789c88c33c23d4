//go:build !linux

package netns

import (
	"errors"
	"os"
)

var errLinux = errors.New("network namespaces are Linux's: run this on Linux, as root")

// Thread is a thread of this program that is inside of a namespace.
type Thread struct{}

// Usable tells whether this program may make namespaces here.
func Usable() error { return errLinux }

// Add makes a namespace.
func Add(string) error { return errLinux }

// Delete removes a namespace's name.
func Delete(string) error { return errLinux }

// Exists tells whether there is a namespace of that name.
func Exists(string) bool { return false }

// List is the names of all namespaces of this machine that have one.
func List() ([]string, error) { return nil, errLinux }

// ID is what tells the namespace from all others.
func ID(string) (uint64, error) { return 0, errLinux }

// OfProcess is the ID of the namespace in which a process is.
func OfProcess(int) (uint64, error) { return 0, errLinux }

// Enter makes a thread in the namespace.
func Enter(string) (*Thread, error) { return nil, errLinux }

// Do calls f on the thread.
func (*Thread) Do(func() error) error { return errLinux }

// Close ends the thread.
func (*Thread) Close() {}

// Do calls f in a namespace.
func Do(string, func() error) error { return errLinux }

// Plug makes a TAP device in a namespace.
func Plug(_ string, i Interface) (*os.File, error) {
	if err := i.check(); err != nil {
		return nil, err
	}
	return nil, errLinux
}
