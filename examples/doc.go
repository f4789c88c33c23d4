// Package examples holds agents that can be started as they are: see the
// folders. The program carries those that it runs itself, so that omni demo
// works anywhere.
//
// What it never does: hold an example that no test runs.
package examples
