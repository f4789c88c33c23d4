package api

import "slices"

// Codes of the API itself. The kernel's are in kernel/failure, the node's in
// package cluster; the table below has them all.
const (
	CodeMalformedJSON   = "MALFORMED_JSON"
	CodeTooLarge        = "TOO_LARGE"
	CodeMediaType       = "UNSUPPORTED_MEDIA_TYPE"
	CodeMethod          = "METHOD_NOT_ALLOWED"
	CodeCrossOrigin     = "CROSS_ORIGIN"
	CodeTooManyStreams  = "TOO_MANY_STREAMS"
	CodeTooManyConns    = "TOO_MANY_CONNECTIONS"
	CodeTLSRequired     = "TLS_REQUIRED"
	CodeTooManyRequests = "TOO_MANY_REQUESTS"
	CodeRateLimited     = "RATE_LIMITED"
	CodeWrongHost       = "WRONG_HOST"
	CodeSlowConsumer    = "SLOW_CONSUMER"
	CodeHistoryBehind   = "HISTORY_BEHIND"
	CodeCompacted       = "COMPACTED"
	CodeNotReady        = "NOT_READY"
	CodeInternal        = "INTERNAL"

	CodeNotFound        = "NOT_FOUND"
	CodeInvalidArgument = "INVALID_ARGUMENT"
	CodeInvalidValue    = "INVALID_VALUE"
	CodeNotLeader       = "NOT_LEADER"
	CodeNoLeader        = "NO_LEADER"
	CodeNotCaughtUp     = "NOT_CAUGHT_UP"
	CodeNotCovered      = "NOT_COVERED"
	CodeSessionExpired  = "SESSION_EXPIRED"
	CodeTimeout         = "TIMEOUT"
	CodeSafeMode        = "SAFE_MODE"
	CodeLeaseLost       = "LEASE_LOST"
	CodeStaleResult     = "STALE_RESULT"
)

// CodeInfo is what a code means.
type CodeInfo struct {
	Code     string
	Definite bool   // it did not take effect and will not; an answer may say so of an unknown one too
	Status   int    // HTTP
	Exit     Exit   // of omni
	Retry    bool   // asking again, here or elsewhere, may help
	Text     string // one paragraph
}

// Codes lists the table, in order of the codes.
func Codes() []CodeInfo { return slices.Clone(codes[:]) }

// Lookup finds a code. One that the table does not have is unknown: a newer
// server must not make an older client claim that nothing happened.
func Lookup(code string) (CodeInfo, bool) {
	i, ok := slices.BinarySearchFunc(codes[:], code, func(c CodeInfo, code string) int {
		switch {
		case c.Code < code:
			return -1
		case c.Code > code:
			return 1
		}
		return 0
	})
	if !ok {
		return CodeInfo{Code: code, Status: 500, Exit: ExitUnknown}, false
	}
	return codes[i], true
}

// ExitOf is the exit code for an error that a server sent.
func ExitOf(e *Error) Exit {
	if !e.Definite {
		return ExitUnknown
	}
	return ExitRefused
}
