// Package httprequest is the tool http.request: one HTTP request, one answer.
//
// cmd/omni makes one Adapter with New, puts it into the node's registry, and
// calls Close when the node stops. What a call takes and gives stands in
// schema.go.
//
// It sends exactly what the gate judged. The URL is split once more by the
// kernel's own rule (tools.HTTPResource); redirects are answers, not
// instructions; headers that could make a server act on another method, host
// or path are refused; a proxy is used only when the node is configured with
// one. It sends a request at most once: the transport's own replay, which a
// header of this name would switch on, is kept off.
//
// Every status is a success of the tool: the program decides what a 404 means.
// A failure is the absence of an answer, or one that cannot be a value. A
// connection that breaks when the request may have been received gives
// OUTCOME_UNKNOWN, unless the method is safe to repeat; TOOL_UNREACHABLE is for
// what was never sent, and TOOL_TIMEOUT says that the time was over, whatever
// had happened by then.
package httprequest
