// Package config holds the limits that a cluster's first event fixes for ever
// (EV-8, INV-12). They are replicated state: every replica refuses the same
// command for the same limit. Limits of one node, such as request rates, are
// not here.
package config
