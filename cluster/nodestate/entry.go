package nodestate

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Kind of an entry.
type Kind string

// The kinds.
const (
	KindBoot       Kind = "boot"       // a process began; From is what the one before left
	KindTransition Kind = "transition" // the node went from From to To
	KindRefusal    Kind = "refusal"    // it did not, and stays in From; Rule says why
	KindComponent  Kind = "component"  // something became of a component
	KindLost       Kind = "lost"       // entries or bytes are missing here; Cause says which
)

// Entry of a node's journal: one line of it.
type Entry struct {
	Seq       uint64    `json:"seq"`  // dense, from 1, over restarts
	Boot      uint64    `json:"boot"` // which start of the process, from 1
	Time      time.Time `json:"time"`
	Kind      Kind      `json:"kind"`
	From      State     `json:"from,omitempty"`
	To        State     `json:"to,omitempty"`
	Trigger   Trigger   `json:"trigger,omitempty"`
	By        string    `json:"by,omitempty"`      // who caused it: operator, signal, node, a component
	Cause     string    `json:"cause,omitempty"`   // a sentence for people
	Rule      string    `json:"rule,omitempty"`    // of a refusal
	Attempt   int       `json:"attempt,omitempty"` // starts that have failed in a row
	Component string    `json:"component,omitempty"`
	Status    Status    `json:"status,omitempty"` // of the component
	Restarts  int       `json:"restarts,omitempty"`
	Hold      Hold      `json:"hold,omitempty"`      // what the transition does to the node's Suspension
	Principal string    `json:"principal,omitempty"` // of the operator who ordered it (AU-10)
	BusSeq    uint64    `json:"bus_seq,omitempty"`   // where that order is in the execution log
}

// Hold is what a transition does to the suspension that outlives the process.
type Hold string

// What it may do.
const (
	HoldSet     Hold = "set"
	HoldCleared Hold = "cleared"
)

// Suspension is why a node rests, until somebody resumes it.
type Suspension struct {
	Since     time.Time `json:"since"`
	By        string    `json:"by,omitempty"`
	Principal string    `json:"principal,omitempty"`
	Reason    string    `json:"reason,omitempty"`
	Estop     bool      `json:"estop,omitempty"`
}

// Memory is what survives a process: where its node stood.
type Memory struct {
	Seq        uint64      `json:"seq"`  // of the last entry that it holds
	Boot       uint64      `json:"boot"` // of the process
	State      State       `json:"state"`
	Since      time.Time   `json:"since"`
	Trigger    Trigger     `json:"trigger,omitempty"`
	By         string      `json:"by,omitempty"`
	Cause      string      `json:"cause,omitempty"`
	Suspension *Suspension `json:"suspension,omitempty"`
}

// Clean tells whether the process ended in order.
func (m *Memory) Clean() bool { return m.State == Terminated }

// Follow takes in an entry that came after.
func (m *Memory) Follow(e *Entry) {
	m.Seq, m.Boot = e.Seq, e.Boot
	if e.Kind != KindTransition && e.Kind != KindBoot {
		return
	}
	m.State, m.Since, m.Trigger, m.By, m.Cause = e.To, e.Time, e.Trigger, e.By, e.Cause
	switch e.Hold {
	case HoldSet:
		m.Suspension = &Suspension{Since: e.Time, By: e.By, Principal: e.Principal, Reason: e.Cause, Estop: e.Trigger == Estop}
	case HoldCleared:
		m.Suspension = nil
	}
}

// maxText bounds what a cause, a rule and a name keep of a text, in bytes.
const maxText = 512

// brief is a text as an entry keeps it: one line, not longer than an entry may be.
func brief(text string) string {
	text = strings.ToValidUTF8(text, "�")
	if len(text) <= maxText {
		return text
	}
	end := maxText
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
