package tell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/omnikernel/omnikernel/cmd/omni/agentfile"
	"github.com/omnikernel/omnikernel/cmd/omni/dev"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// Report is an error as -o json prints it on stderr. Exit is the exit code of
// the process; definite is false only when the command may have taken effect.
type Report struct {
	Code     string `json:"code"`
	Definite bool   `json:"definite"`
	Message  string `json:"message"`
	Field    string `json:"field,omitempty"`
	Rule     string `json:"rule,omitempty"`
	Hint     string `json:"hint,omitempty"`

	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`

	AgentID string `json:"agent_id,omitempty"`
	State   string `json:"state,omitempty"`
	Index   uint64 `json:"index,omitempty"`
	Node    string `json:"node,omitempty"`

	Exit api.Exit `json:"exit"`
}

// InFile is a refusal of something that stands in a file of the command line.
type InFile struct {
	Err          error
	File         string
	Line, Column int
}

// Error is what was refused; the place is the Report's.
func (e *InFile) Error() string { return e.Err.Error() }

// Unwrap gives the refusal.
func (e *InFile) Unwrap() error { return e.Err }

// ReportOf describes any error that a command returned.
func ReportOf(err error) Report {
	report := reportOf(err)
	var in *InFile
	if errors.As(err, &in) {
		report.File, report.Line, report.Column = in.File, in.Line, in.Column
	}
	return report
}

func reportOf(err error) Report {
	var (
		own         *Problem
		said        *api.Error
		file        *agentfile.Problem
		cluster     *dev.Problem
		unknown     *client.Unknown
		unreachable *client.Unreachable
		usage       *client.Usage
	)
	switch {
	case errors.As(err, &own):
		return Report{Code: own.Code, Definite: own.Exit != api.ExitUnknown, Message: own.Message, Hint: own.Hint, Exit: own.Exit}
	case errors.As(err, &file):
		return Report{
			Code: CodeInvalidInput, Definite: true, Message: file.Error(), Field: file.Field, Rule: file.Rule, Hint: file.Hint,
			File: file.File, Line: file.Line, Column: file.Column, Exit: api.ExitUsage,
		}
	case errors.As(err, &said):
		return Report{
			Code: said.Code, Definite: said.Definite, Message: said.Message, Field: said.Field, Rule: said.Rule, Hint: said.Hint,
			AgentID: said.AgentID, State: said.State, Index: said.Index, Node: said.Node, Exit: client.ExitOf(err),
		}
	case errors.As(err, &unknown):
		return Report{Code: CodeUnknown, Message: err.Error(), Exit: api.ExitUnknown,
			Hint: "look before you do it again: omni agent get, omni agent list"}
	case errors.As(err, &unreachable):
		var distrusted *client.Distrusted
		if errors.As(err, &distrusted) {
			return Report{Code: CodeUnreachable, Definite: true, Message: err.Error(), Exit: api.ExitUnreachable, Hint: distrusted.Hint}
		}
		return Report{Code: CodeUnreachable, Definite: true, Message: err.Error(), Exit: api.ExitUnreachable,
			Hint: "is a cluster running? Start one with omni dev, or name its nodes with --server"}
	case errors.As(err, &usage):
		return Report{Code: CodeUsage, Definite: true, Message: err.Error(), Exit: api.ExitUsage}
	case errors.As(err, &cluster):
		return Report{Code: CodeRefused, Definite: true, Message: cluster.Rule, Hint: cluster.Hint, Exit: api.ExitRefused}
	case errors.Is(err, context.Canceled):
		return Report{Code: CodeInterrupted, Definite: true, Message: "interrupted", Exit: api.ExitRefused}
	}
	return Report{Code: CodeRefused, Definite: true, Message: err.Error(), Exit: api.ExitRefused}
}

// Fail prints an error on stderr and gives the exit code; ExitDone and nothing
// for nil.
func (t *Teller) Fail(err error) api.Exit {
	if err == nil {
		return api.ExitDone
	}
	report := ReportOf(err)
	if t.IsJSON() {
		if raw, err := json.Marshal(report); err == nil {
			_, _ = t.err.Write(append(harmlessJSON(raw), '\n'))
		}
		return report.Exit
	}
	page := &Page{Style: t.errStyle}
	page.Line("%s %s", page.Bad("error:"), report.sentence())
	if report.Hint != "" {
		page.Line("%s %s", page.Faint(" hint:"), report.Hint)
	}
	if !report.Definite {
		page.Line("%s it may have taken effect, or may yet", page.Warn(" note:"))
	}
	_ = t.print(t.err, t.errStyle, page.Bytes())
	return report.Exit
}

// sentence is the message with what a person needs to find the place.
func (r *Report) sentence() string {
	if r.Code == CodeInvalidInput {
		return r.Message // begins with the place
	}
	var b strings.Builder
	if r.File != "" {
		b.WriteString(r.File + ":")
		if r.Line > 0 {
			fmt.Fprintf(&b, "%d:%d:", r.Line, r.Column)
		}
		b.WriteByte(' ')
	}
	if r.Code != CodeUsage && r.Code != CodeRefused && r.Code != CodeNotHeld {
		b.WriteString(r.Code + ": ")
	}
	if r.Field != "" && !strings.Contains(r.Message, r.Field) {
		b.WriteString(r.Field + ": ")
	}
	b.WriteString(r.Message)
	if r.Rule != "" && !strings.Contains(r.Message, r.Rule) {
		b.WriteString(": " + r.Rule)
	}
	return b.String()
}
