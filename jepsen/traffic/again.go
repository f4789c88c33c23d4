package traffic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"

	"github.com/omnikernel/omnikernel/jepsen/model"
	"github.com/omnikernel/omnikernel/transport/api"
)

// attempt is one request with one command, sent as a plain HTTP caller would: the
// client package would not send a command again that it has an answer to.
type attempt struct {
	key   string // of the operation
	in    model.RepeatIn
	floor uint64
	path  string // below the kernel's
	body  any    // as the address wants it
	sent  any    // as the log has it
	to    Node
}

// maxDone bounds what is read of an answer.
const maxDone = 1 << 20

// send makes one attempt at one node, as a process of its own, and settles it. It
// tells what the answer says of the session.
func (a *attempt) send(ctx context.Context, e *Env, process int, through *http.Client) (code string) {
	a.in.Node = a.to.ID
	call := e.Record.Call(process, model.Repeat, "attempt", a.key, a.in).Sends(kindOf(a.sent).String(), a.sent)
	done, said, err := a.ask(ctx, through)
	var dial *net.OpError
	switch {
	case err == nil && said == nil:
		call.From(done.Node, done.Index, done.BusSeq).Ok(done)
	case said != nil && said.Definite:
		call.From(said.Node, said.Index, 0).Fail(said.Code, said.Message, refusal(said))
	case said != nil:
		call.From(said.Node, said.Index, 0).Unknown(said.Code, said.Message)
	case errors.As(err, &dial) && dial.Op == "dial":
		call.Fail(NotAsked, err.Error(), nil)
	default:
		call.Unknown(NoAnswer, err.Error())
	}
	if said != nil {
		return said.Code
	}
	return ""
}

// ask sends the request and reads what is answered: a Done or an Error.
func (a *attempt) ask(ctx context.Context, through *http.Client) (done api.Done, said *api.Error, err error) {
	encoded, err := json.Marshal(a.body)
	if err != nil {
		return done, nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.to.URL+"/v1/kernels/"+api.DefaultKernel+a.path, bytes.NewReader(encoded))
	if err != nil {
		return done, nil, err
	}
	r.GetBody = nil // it is sent once: whoever sends it again is this workload
	r.Header.Set("Content-Type", "application/json")
	if a.in.Key != "" {
		r.Header.Set(api.HeaderKey, a.in.Key)
	} else if a.in.Session != "" {
		r.Header.Set(api.HeaderSession, a.in.Session)
		r.Header.Set(api.HeaderSequence, strconv.FormatUint(a.in.Sequence, 10))
		r.Header.Set(api.HeaderFloor, strconv.FormatUint(a.floor, 10))
	}
	answer, err := through.Do(r)
	if err != nil {
		return done, nil, err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxDone))
	if err != nil {
		return done, nil, err
	}
	if answer.StatusCode < 300 {
		if err = json.Unmarshal(raw, &done); err == nil && done.Index == 0 {
			err = errors.New("the answer has no index")
		}
		return done, nil, err
	}
	said = new(api.Error)
	if err := json.Unmarshal(raw, said); err != nil || said.Code == "" {
		return done, nil, errors.New("an answer that is not this API's: " + answer.Status)
	}
	return done, said, nil
}

// mint asks a node for a session.
func mint(ctx context.Context, through *http.Client, from Node) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, from.URL+"/v1/kernels/"+api.DefaultKernel+"/sessions", nil)
	if err != nil {
		return "", err
	}
	answer, err := through.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	var minted api.Session
	err = json.NewDecoder(io.LimitReader(answer.Body, maxDone)).Decode(&minted)
	if err == nil && minted.Session == "" {
		err = errors.New("no session was given")
	}
	return minted.Session, err
}
