//go:build !faultclock

package main

import "time"

// wallClock is a node's clock; nil is the machine's.
func wallClock(string) func() time.Time { return nil }
