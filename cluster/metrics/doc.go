// Package metrics is what a node tells Prometheus: one registry for a process, what is
// counted as it happens, and what is read when somebody asks.
//
// # Who calls it, in which order
//
// cmd/omni makes a Metrics for the process (New), gives it to the node, its tools and
// its API, which count into it, and tells it where to look (Watch…): at the node that
// is open, at the log output, at the API. A node that is opened anew takes the place of
// the one before. Handler answers scrapes.
//
// # What is bounded
//
// Every label has few values, all of them known to the program: kinds of events, codes,
// states, routes, kinds of adapters. No agent, run, principal or tool is ever one, so
// that the number of series does not grow with what a cluster does. Agents are counted
// by looking at all of them, once for an index that was applied, and not more often than
// that is cheap.
//
// # What it never does
//
// It never waits for the node, nor the node for it: Apply adds to a counter, and a scrape
// reads states that are published anyway. It is not part of the machine: nothing in the
// kernel counts for it.
package metrics
