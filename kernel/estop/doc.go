// Package estop keeps whether the whole kernel is suspended: since when, by whom
// and why (NO-2). While it is, no tick runs, no deadline rings, no call is
// dispatched, and commands that start or advance work are refused; package
// flows has the table of those. Agents are left as they are: the emergency stop
// is of the machine, and the states of package lifecycle know nothing of it.
package estop
