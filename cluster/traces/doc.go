// Package traces turns the execution log into OpenTelemetry spans, and sends them by
// OTLP over HTTP: agents, their ticks, their tool calls, and commands.
//
// # Who calls it, in which order
//
// A node makes an Exporter (New) of its log and its states. While it leads, it calls
// Export over and over, which reads what was committed since, makes spans of what ended
// in it, and sends them. While it follows, it learns how far the leader is (Learn), so
// that it goes on from there when its turn comes.
//
// # Identifiers
//
// Nothing is drawn. A trace's id is the UUID of the agent at the top of a tree of agents.
// The spans of agents, ticks and runs of ticks have the ids that the records of the API
// have (Span); a call's is the busSeq of its CALL_REQUESTED, a command's that of its EVENT
// (SpanAt). Whoever exports a span, however often, exports the same one, so that one which
// is sent twice is one.
//
// # What it never does
//
// It never holds up the node. The log is its queue: when nobody takes spans, it falls
// behind, and what memory it takes does not grow. It writes no record, and what it does
// cannot be seen in any.
package traces
