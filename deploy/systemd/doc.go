// Package systemd holds the unit that runs a node under systemd, and the tests that
// hold it to systemd's own opinion of it, behind the build tag `systemd`. docs/deploy.md says how it is used.
package systemd
