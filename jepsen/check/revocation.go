package check

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/omnikernel/omnikernel/jepsen/model"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Revocation judges the log by who may do what (TO-5, LC-10, PE-2): after the event
// that takes a token or a grant away, no call is requested, allowed or dispatched
// that rests on it, anywhere below; what was allowed or denied was so by the grants
// in force at that moment; and who lost its token comes to its end.
//
// Revocations count from the command on, whatever the kernel made of it.
type Revocation struct{}

// Name implements Checker.
func (Revocation) Name() string { return model.Revocation }

// Check implements Checker.
func (c Revocation) Check(_ context.Context, e *Evidence) Verdict {
	t := newTally(c.Name())
	for _, name := range []string{"tokens", "revoked tokens", "revoked grants", "judged", "dispatches", "denied for it"} {
		t.count(name, 0)
	}
	commands, err := readCommands(e.Log)
	if err == nil {
		w := &watch{
			tally: t, commands: commands, rights: model.NewAuthority(), grants: make(map[uint64][]permissions.Grant),
			resources: make(map[string]string), states: make(map[string]model.State),
		}
		for i := range e.Log {
			if err = w.record(&e.Log[i]); err != nil {
				break
			}
		}
		w.ended()
	}
	switch {
	case err != nil:
		t.doubt(0, nil, "the log cannot be read: %v", err)
	case t.verdict.Figures["revoked tokens"]+t.verdict.Figures["revoked grants"] == 0 || t.verdict.Figures["dispatches"] == 0:
		t.doubt(0, nil, "nothing was revoked, or no call dispatched")
	}
	return t.end()
}

// watch goes through a log and knows at every record who may do what.
type watch struct {
	*tally
	commands  *commandLog
	rights    *model.Authority
	grants    map[uint64][]permissions.Grant // by number
	resources map[string]string              // of calls, by key
	states    map[string]model.State
	agents    []string // in the order of their tokens
}

func (w *watch) record(r *api.Record) error {
	switch r.Kind {
	case "EVENT":
		return w.command(r)
	case "INTERNED":
		return w.interned(r)
	case "TOKEN_ISSUED", "TOKEN_REVOKED", "CHILDREN_REVOKED", "LIFECYCLE":
		return w.changed(r)
	case "ALLOW", "DENY":
		return w.judged(r)
	case "CALL_REQUESTED", "CALL_DISPATCHED":
		return w.used(r)
	}
	return nil
}

// command takes rights away, if that is what it does.
func (w *watch) command(r *api.Record) error {
	c := w.commands.at(r.BusSeq)
	if c == nil || !c.done() || c.Event != "TOKEN_REVOKE" && c.Event != "GRANT_REVOKE" {
		return nil
	}
	var body model.RevokeIn
	if err := json.Unmarshal([]byte(c.Body), &body); err != nil {
		return err
	}
	if c.Event == "TOKEN_REVOKE" {
		w.count("revoked tokens", 1)
		w.rights.Revoke(body.Agent)
		return nil
	}
	w.count("revoked grants", 1)
	w.rights.RevokeGrant(body.Agent, body.Grant)
	return nil
}

// interned notes lists of grants, which later records name by number.
func (w *watch) interned(r *api.Record) error {
	body, err := bodyOf[struct {
		Entries []struct {
			Number  uint64          `json:"number"`
			Class   string          `json:"class"`
			Content json.RawMessage `json:"content"`
		} `json:"entries"`
	}](r)
	if err != nil {
		return err
	}
	for _, entry := range body.Entries {
		var list []permissions.Grant
		if entry.Class == "grants" && len(entry.Content) > 0 {
			if err := json.Unmarshal(entry.Content, &list); err != nil {
				return err
			}
			w.grants[entry.Number] = list
		}
	}
	return nil
}

func (w *watch) changed(r *api.Record) error {
	body, err := bodyOf[struct {
		Grants uint64      `json:"grants"`
		Parent string      `json:"parent_id"`
		To     model.State `json:"to"`
		Class  string      `json:"class"`
	}](r)
	if err != nil {
		return err
	}
	switch r.Kind {
	case "TOKEN_ISSUED":
		w.count("tokens", 1)
		w.rights.Issue(r.AgentID, body.Parent, slices.Clone(w.grants[body.Grants]))
		w.agents = append(w.agents, r.AgentID)
		if why := w.rights.Void(r.AgentID); why != "" {
			w.find(0, nil, "agent %s is given a token at busSeq %d, and %s", r.AgentID, r.BusSeq, why)
		}
	case "TOKEN_REVOKED": // by a command, or because its time is over
		w.rights.Revoke(r.AgentID)
	case "CHILDREN_REVOKED":
		w.rights.GiveUp(r.AgentID)
	default:
		w.states[r.AgentID] = body.To
		switch {
		case body.To == model.Terminated:
			w.rights.End(r.AgentID)
		case body.To == model.Faulted && body.Class == "PERMANENT":
			w.rights.GiveUp(r.AgentID)
		}
	}
	return nil
}

// judged compares a verdict on record with what the grants in force say.
func (w *watch) judged(r *api.Record) error {
	body, err := bodyOf[struct {
		Action   string `json:"action"`
		Resource string `json:"resource"`
	}](r)
	if err != nil || strings.HasPrefix(body.Action, "memory.") { // a parent's memory has another name one level up
		return err
	}
	w.count("judged", 1)
	void := w.rights.Void(r.AgentID)
	may := w.rights.May(r.AgentID, body.Action, body.Resource, r.AtMillis)
	switch {
	case r.Kind == "ALLOW" && void != "":
		w.find(0, nil, "busSeq %d allows %s %s to agent %s, and %s", r.BusSeq, body.Action, body.Resource, r.AgentID, void)
	case r.Kind == "ALLOW" && may == permissions.Deny:
		w.find(0, nil, "busSeq %d allows %s %s to agent %s, and its grants do not", r.BusSeq, body.Action, body.Resource, r.AgentID)
	case r.Kind == "DENY" && void == "" && may == permissions.Allow:
		w.find(0, nil, "busSeq %d denies %s %s to agent %s, and its grants allow it", r.BusSeq, body.Action, body.Resource, r.AgentID)
	case r.Kind == "DENY":
		w.count("denied for it", 1)
	}
	return nil
}

// used demands that a call that begins rests on rights that are there.
func (w *watch) used(r *api.Record) error {
	body, err := bodyOf[struct {
		Call     json.Number `json:"call"`
		Resource string      `json:"resource"`
	}](r)
	if err != nil {
		return err
	}
	key := callKey(r, body.Call.String())
	verb := "requested"
	if r.Kind == "CALL_REQUESTED" {
		w.resources[key] = body.Resource
	} else {
		verb = "dispatched"
		w.count("dispatches", 1)
	}
	if void := w.rights.Void(r.AgentID); void != "" {
		w.find(0, nil, "call %s is %s at busSeq %d, and %s", key, verb, r.BusSeq, void)
	} else if w.rights.May(r.AgentID, "tool.call", w.resources[key], r.AtMillis) == permissions.Deny {
		w.find(0, nil, "call %s is %s at busSeq %d, and nothing allows it any more", key, verb, r.BusSeq)
	}
	return nil
}

// ended demands that nobody without a token is left.
func (w *watch) ended() {
	for _, agent := range w.agents {
		if void := w.rights.Void(agent); void != "" && w.states[agent] != model.Terminated {
			w.find(0, nil, "agent %s is %s in the end, and %s", agent, w.states[agent], void)
		}
	}
}

var _ Checker = Revocation{}
