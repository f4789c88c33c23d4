package traffic

import (
	"errors"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// Codes of outcomes that no server gave.
const (
	NoAnswer = "NO_ANSWER" // something was sent, and nothing settles it
	NotAsked = "NOT_ASKED" // nobody could be asked
	NoSense  = "NO_SENSE"  // the client refused to send it: the workload is wrong
)

// Call records that the worker is about to do something. In may be nil.
func (w *Worker) Call(name, key string, in any) *history.Call {
	w.calls++
	return w.Record.Call(w.Process, w.Workload, name, key, in)
}

// Settle settles a command by the error that the client gave. Nil is Ok, with out;
// the caller has said before who answered (From), an error says so itself. After an
// unknown outcome the worker is another process.
func (w *Worker) Settle(call *history.Call, err error, out any) history.Outcome {
	if err == nil {
		call.Ok(out)
		return history.Ok
	}
	code, said := codeOf(err)
	if said != nil {
		call.From(said.Node, said.Index, 0)
	}
	if client.Definite(err) {
		call.Fail(code, err.Error(), refusal(said))
		return history.Failed
	}
	call.Unknown(code, err.Error())
	w.Retire()
	return history.Unknown
}

// Refusal is what is recorded as the answer of a refused command.
type Refusal struct {
	State string `json:"state,omitempty"` // the agent's, as the refusal names it
}

// refusal is nil when there is nothing to say.
func refusal(said *api.Error) any {
	if said == nil || said.State == "" {
		return nil
	}
	return Refusal{State: said.State}
}

// SettleRead settles a read: one without an answer has failed, since it has no
// effect that could be unknown.
func (w *Worker) SettleRead(call *history.Call, err error, out any) history.Outcome {
	if err == nil {
		call.Ok(out)
		return history.Ok
	}
	code, said := codeOf(err)
	if said != nil {
		call.From(said.Node, said.Index, 0)
	}
	call.Fail(code, err.Error(), nil)
	return history.Failed
}

// codeOf is the code of an error, and the server's answer when there was one.
func codeOf(err error) (string, *api.Error) {
	var (
		said    *api.Error
		unknown *client.Unknown
		nobody  *client.Unreachable
		usage   *client.Usage
	)
	switch {
	case errors.As(err, &unknown):
		if errors.As(unknown.Cause, &said) {
			return said.Code, said
		}
		return NoAnswer, nil
	case errors.As(err, &said):
		return said.Code, said
	case errors.As(err, &nobody):
		return NotAsked, nil
	case errors.As(err, &usage):
		return NoSense, nil
	}
	return NoAnswer, nil
}
