package tools

import (
	"time"

	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Request is one call, as the outbox holds it.
type Request struct {
	Tool           string        // the manifest's name
	IdempotencyKey string        // names the call for ever: agent, tick, call (TO-4)
	Args           value.Raw     // canonical, not yet checked against the schema
	Timeout        time.Duration // what is left of the call's time; zero takes the manifest's default

	// Of a registered tool: what the call was requested with. 0 and nil for one that
	// is built in.
	Revision uint64
	Manifest *kerneltools.Manifest
}

// Result is how a call ended. With OK set Value is the answer and Code and
// Message are empty; otherwise Value is empty and Code says what went wrong,
// Message in our own words, at most failure.MaxMessage bytes.
type Result struct {
	OK      bool
	Value   value.Raw
	Code    failure.Code
	Message string
	Usage   kerneltools.Usage // what the call cost, when the service said so, whatever came of it
	Passing bool              // another attempt may go better, where the call may be made twice
	After   time.Duration     // the service asks that no other attempt is made before
}

// Succeed answers with a value.
func Succeed(v value.Raw) Result { return Result{OK: true, Value: v} }

// Fail answers with a code and one of our own sentences.
func Fail(code failure.Code, message string) Result {
	return Result{Code: code, Message: failure.Clip(message)}
}
