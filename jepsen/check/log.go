package check

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/omnikernel/omnikernel/transport/api"
)

// command is a client's command as the log has it.
type command struct {
	Seq, Index uint64
	Event      string
	Body       string // canonical JSON
	Session    string
	Sequence   uint64
	Key        string // idempotency key

	Code    string // of its refusal; empty when it is done
	AgentID string
	State   string
	Judged  bool   // it has an outcome of its own
	Again   uint64 // a repetition: the index at which it was applied first
}

// done is whether the command took effect here.
func (c *command) done() bool { return c.Judged && c.Code == "" }

// commands are the kinds of events that are a client's.
var commandEvents = map[string]bool{
	"AGENT_DEFINE": true, "AGENT_START": true, "AGENT_TRIGGER": true, "AGENT_KILL": true, "AGENT_SUBMIT": true,
	"AGENT_SEND": true, "AGENT_RECLASSIFY": true, "TOKEN_REVOKE": true, "GRANT_REVOKE": true, "ESCALATION_DECIDE": true,
	"SHARED_PUT": true, "SHARED_DELETE": true, "LOG_ARCHIVE": true, "AGENT_FORK": true,
	"BUDGET_SET": true, "KERNEL_SUSPEND": true, "KERNEL_RESUME": true,
}

// commandLog is all commands of a log, in its order.
type commandLog struct {
	all     []command
	bySeq   map[uint64]int
	byIndex map[uint64]int
}

// at finds the command whose first record has a busSeq; nil when there is none.
func (l *commandLog) at(seq uint64) *command {
	if i, found := l.bySeq[seq]; found {
		return &l.all[i]
	}
	return nil
}

// index finds the command at a Raft index; nil when there is none.
func (l *commandLog) index(index uint64) *command {
	if i, found := l.byIndex[index]; found {
		return &l.all[i]
	}
	return nil
}

// readCommands takes the commands out of a log.
func readCommands(log []api.Record) (*commandLog, error) {
	l := &commandLog{bySeq: make(map[uint64]int), byIndex: make(map[uint64]int)}
	for i := range log {
		r := &log[i]
		switch r.Kind {
		case "EVENT":
			c, err := readCommand(r)
			if err != nil {
				return nil, err
			}
			if commandEvents[c.Event] {
				l.bySeq[c.Seq], l.byIndex[c.Index] = len(l.all), len(l.all)
				l.all = append(l.all, c)
			}
		case "OUTCOME", "DUPLICATE":
			if c := l.index(r.Index); c != nil {
				if err := c.settle(r); err != nil {
					return nil, err
				}
			}
		}
	}
	return l, nil
}

func readCommand(r *api.Record) (command, error) {
	body, err := bodyOf[struct {
		Event    string          `json:"event"`
		Body     json.RawMessage `json:"body"`
		Session  string          `json:"session"`
		Sequence uint64          `json:"sequence"`
		Key      string          `json:"idempotency_key"`
	}](r)
	if err != nil {
		return command{}, err
	}
	c := command{
		Seq: r.BusSeq, Index: r.Index, Event: body.Event, Session: body.Session, Sequence: body.Sequence, Key: body.Key,
	}
	if commandEvents[c.Event] {
		if c.Body, err = canonical(body.Body); err != nil {
			return command{}, fmt.Errorf("record %d: %w", r.BusSeq, err)
		}
	}
	return c, nil
}

// settle reads what came of it.
func (c *command) settle(r *api.Record) error {
	body, err := bodyOf[struct {
		Code    string `json:"code"`
		AgentID string `json:"agent_id"`
		State   string `json:"state"`
		Index   uint64 `json:"index"`
	}](r)
	if err != nil {
		return err
	}
	if r.Kind == "DUPLICATE" {
		c.Again = body.Index
		return nil
	}
	c.Judged, c.Code, c.AgentID, c.State = true, body.Code, body.AgentID, body.State
	return nil
}

// bodyOf reads a record's body.
func bodyOf[T any](r *api.Record) (into T, err error) {
	if err = json.Unmarshal(r.Body, &into); err != nil {
		err = fmt.Errorf("record %d (%s): %w", r.BusSeq, r.Kind, err)
	}
	return into, err
}

// canonical is a JSON value in one form: keys in order, numbers as they are written.
func canonical(raw json.RawMessage) (string, error) {
	if len(raw) == 0 {
		return "", nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "", err
	}
	out, err := json.Marshal(v)
	return string(out), err
}
