package httpapi

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// typeJSON is shared between answers: nobody writes to it.
var typeJSON = []string{"application/json"}

func writeJSON(w http.ResponseWriter, status int, body any) {
	encoded, err := json.Marshal(body)
	if err != nil {
		status, encoded = http.StatusInternalServerError, []byte(`{"code":"INTERNAL","definite":true,"message":"the answer cannot be written as JSON"}`)
	}
	writeRaw(w, status, encoded)
}

// writeRaw sends an answer. A client that has gone is no error of ours.
func writeRaw(w http.ResponseWriter, status int, body []byte) {
	w.Header()["Content-Type"] = typeJSON
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// refused makes the error for a refusal that this node decides by itself.
func refused(code, field, rule, hint string) *api.Error {
	message := rule
	if field != "" {
		message = field + ": " + rule
	}
	info, _ := api.Lookup(code)
	return &api.Error{Code: code, Definite: true, Message: message, Field: field, Rule: rule, Hint: hint, Status: info.Status}
}

func invalid(field, rule, hint string) *api.Error {
	return refused(api.CodeInvalidArgument, field, rule, hint)
}

// atDoor makes the error for a refusal that a kernel rule gave at the door.
func atDoor(r *failure.Refusal) *api.Error { return refused(string(r.Code), r.Field, r.Rule, r.Hint) }

// fail sends an error.
func (s *Server) fail(w http.ResponseWriter, e *api.Error) {
	e.Node = s.node.ID()
	if e.Status == 0 {
		info, _ := api.Lookup(e.Code)
		e.Status = info.Status
	}
	if e.Status == http.StatusServiceUnavailable || e.Status == http.StatusTooManyRequests {
		if h := w.Header(); h["Retry-After"] == nil {
			h["Retry-After"] = retrySoon
		}
	}
	writeJSON(w, e.Status, e)
}

var retrySoon = []string{"1"}

// settle turns a node's answer into the API's: exactly one of the two.
func (s *Server) settle(a *cluster.Answer) (*api.Done, *api.Error) {
	if a.Verdict != cluster.Applied {
		return nil, s.unapplied(a)
	}
	o := &a.Outcome
	if !o.Done() {
		e := atDoor(&o.Refusal)
		e.Index, e.Node = o.Index, s.node.ID()
		if o.Agent != [16]byte{} {
			e.AgentID, e.State = flows.FormatID(o.Agent), lifecycle.State(o.State).String()
		}
		return nil, e
	}
	done := &api.Done{Index: o.Index, BusSeq: o.Seq, Node: s.node.ID(), Repeated: o.Repeated, Version: o.Version}
	if o.Agent != [16]byte{} { // shared memory is nobody's
		done.AgentID, done.State = flows.FormatID(o.Agent), lifecycle.State(o.State).String()
	}
	return done, nil
}

// unapplied tells of a command that no kernel answered. What a verdict says
// goes before what its code usually means.
func (s *Server) unapplied(a *cluster.Answer) *api.Error {
	info, _ := api.Lookup(a.Code)
	e := &api.Error{
		Code: a.Code, Definite: a.Verdict == cluster.Refused, Message: a.Detail, Leader: leaderOf(a.Leader),
		Status: info.Status, Node: s.node.ID(),
	}
	if e.Message == "" {
		e.Message = info.Text
	}
	if e.Definite && !info.Definite {
		e.Status = http.StatusServiceUnavailable
	}
	return e
}

func leaderOf(p cluster.Peer) *api.Leader {
	if p.ID == "" {
		return nil
	}
	return &api.Leader{ID: p.ID, API: p.API}
}

// writeDone sends the answer to a command that took effect, without
// reflection: it is the most frequent answer there is.
func writeDone(w http.ResponseWriter, status int, d *api.Done) {
	writeRaw(w, status, appendDone(make([]byte, 0, 192), d))
}

func appendDone(b []byte, d *api.Done) []byte {
	b = append(b, '{')
	if d.AgentID != "" {
		b = append(b, `"agent_id":"`...) // UUIDs and states need no escaping
		b = append(b, d.AgentID...)
		b = append(b, `","state":"`...)
		b = append(b, d.State...)
		b = append(b, `",`...)
	}
	b = append(b, `"index":`...)
	b = strconv.AppendUint(b, d.Index, 10)
	b = append(b, `,"bus_seq":`...)
	b = strconv.AppendUint(b, d.BusSeq, 10)
	b = append(b, `,"node":`...)
	b = value.Raw(value.AppendString(nil, d.Node)).AppendJSON(b)
	b = append(b, `,"repeated":`...)
	b = strconv.AppendBool(b, d.Repeated)
	if d.Version != 0 {
		b = strconv.AppendUint(append(b, `,"version":`...), d.Version, 10)
	}
	return append(b, '}')
}
