//go:build !faultclock

package main

import "time"

// wallClock is the node's clock; nil is the machine's.
func wallClock() func() time.Time { return nil }
