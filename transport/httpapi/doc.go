// Package httpapi serves one node's HTTP API: commands, reads, the log as
// pages, as a stream and as an export, and the cluster's status.
//
// # Who calls it, in which order
//
// The node's owner makes a Server with New, hands it a listener with Serve,
// and ends it with Shutdown: streams are told to go elsewhere, requests under
// way are answered, and then the listener and every connection are closed.
//
// # How a command goes
//
// Its body is read, bounded, and checked as strict JSON in one pass that gives
// canonical CBOR (kernel/value); fields are taken from that by the decoders of
// this package, which refuse unknown ones; rules that need no state are held at
// the door, programs compiled included, so that a bad command costs no log
// entry. What remains is proposed, and the outcome is told as it is: done,
// refused, or unknown (CL-2). Every refusal names the field, the rule, and
// where it helps a hint.
//
// routes.go is the table of all routes. The same entries make the handlers and
// the OpenAPI document at /openapi.json, so one cannot say what the other does
// not do. The document is made by huma from the Go types; requests are not
// routed through it: it cannot tell a repeated key, it would have errors of its
// own, and it costs more than doing all of that by hand (bench_test.go).
//
// # What is bounded
//
// Header bytes, body bytes, bytes of all bodies at once, times of reading,
// answering and idling, connections, streams, page sizes, and how many agents
// one listing looks at.
//
// # What it never does
//
// It keeps no state that outlives a request but caches, decides nothing that
// the kernel decides, and never answers a read from a state of which it does
// not say how old it is.
package httpapi
