package main

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/restore"
	"github.com/omnikernel/omnikernel/cluster/survivor"
	"github.com/omnikernel/omnikernel/cmd/omni/agentcheck"
	"github.com/omnikernel/omnikernel/cmd/omni/bench"
	"github.com/omnikernel/omnikernel/cmd/omni/certs"
	"github.com/omnikernel/omnikernel/cmd/omni/demo"
	"github.com/omnikernel/omnikernel/cmd/omni/dev"
	"github.com/omnikernel/omnikernel/cmd/omni/drill"
	"github.com/omnikernel/omnikernel/cmd/omni/export"
	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/cmd/omni/top"
	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// document is docs/cli.md by headings, and the headings in order.
func document(t *testing.T) (sections map[string]string, headings []string) {
	raw, err := os.ReadFile("../../docs/cli.md")
	require.NoError(t, err)
	sections = make(map[string]string)
	heading := ""
	for line := range strings.Lines(string(raw)) {
		if title, ok := strings.CutPrefix(line, "#"); ok {
			heading = strings.Trim(title, "# \n")
			require.NotContains(t, sections, heading, "a heading that is there twice")
			headings = append(headings, heading)
		}
		sections[heading] += line
	}
	return sections, headings
}

// first is the first column of the tables in a section: what stands there in
// code.
func first(section string) []string {
	var found []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)`").FindAllStringSubmatch(section, -1) {
		found = append(found, row[1])
	}
	slices.Sort(found)
	return found
}

// Every command has a section with exactly its flags, and no other command has
// one.
func TestTheDocumentHasEveryCommandAndFlag(t *testing.T) {
	sections, headings := document(t)
	root := newRoot(&app{})
	commands := map[string]bool{}
	each(root, func(c *cobra.Command) {
		heading := c.CommandPath()
		flags := c.LocalNonPersistentFlags()
		if heading == "omni cluster join" { // a server's, and the section says so
			require.Contains(t, sections[heading], "It takes the flags of `omni server`")
			flags = pflag.NewFlagSet("", pflag.ContinueOnError)
		}
		if c == root {
			heading, flags = "Flags of every command", c.PersistentFlags()
		}
		commands[heading] = true
		require.Contains(t, sections, heading)
		var want []string
		flags.VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" {
				return
			}
			name := "--" + f.Name
			if f.Shorthand != "" {
				name = "-" + f.Shorthand + ", " + name
			}
			want = append(want, name)
		})
		slices.Sort(want)
		assert.Equal(t, want, first(sections[heading]), heading)
	})
	for _, heading := range headings {
		if strings.HasPrefix(heading, "omni ") {
			assert.Contains(t, commands, heading, "there is no such command")
		}
	}
}

// each visits the commands that people see.
func each(c *cobra.Command, visit func(*cobra.Command)) {
	if c.Hidden || c.Name() == "help" {
		return
	}
	visit(c)
	for _, sub := range c.Commands() {
		each(sub, visit)
	}
}

// Every JSON answer has a section with exactly its fields.
func TestTheDocumentHasEveryField(t *testing.T) {
	sections, _ := document(t)
	for heading, v := range map[string]any{
		"A command that was done":     api.Done{},
		"An agent":                    api.Agent{},
		"A list of agents":            api.AgentPage{},
		"A check of an agent":         agentcheck.Report{},
		"A run":                       api.Run{},
		"A run that was changed":      show.RunDone{},
		"A list of runs":              api.RunPage{},
		"A history":                   api.HistoryPage{},
		"A tree":                      api.TreePage{},
		"Faults":                      api.FaultPage{},
		"A value of memory":           api.MemoryValue{},
		"A list of keys":              api.MemoryPage{},
		"A list of tools":             api.ToolPage{},
		"A tool":                      api.Tool{},
		"A list of tasks":             api.TaskPage{},
		"A task":                      api.TaskAnswer{},
		"An explanation":              api.Explanation{},
		"A list of escalations":       api.EscalationPage{},
		"An escalation":               api.EscalationAnswer{},
		"A list of tokens":            api.TokenPage{},
		"A token":                     api.TokenAnswer{},
		"An audit log":                api.AuditPage{},
		"A record":                    api.Record{},
		"A verified log":              show.VerifiedLog{},
		"A verified agent":            show.VerifiedAgent{},
		"A ledger":                    show.Ledger{},
		"A replay of a run":           show.ReplayedRun{},
		"The end of a ledger":         show.LedgerEnd{},
		"A replay":                    show.Replayed{},
		"A view":                      top.View{},
		"A backup":                    madeBackup{},
		"An export's lag":             export.Lag{},
		"What is in a backup":         backup.Report{},
		"A restore":                   restore.Report{},
		"An audit of a log":           show.Audited{},
		"A backtest":                  show.Backtested{},
		"A what-if":                   show.WhatIfAnswer{},
		"A cluster's status":          api.Status{},
		"A node":                      api.NodeState{},
		"A node's journal":            api.NodeJournal{},
		"An order to a node":          api.NodeOrdered{},
		"Members":                     api.Members{},
		"A change of the members":     api.MemberChanged{},
		"A survivor":                  survivor.Finding{},
		"A transfer":                  api.Transferred{},
		"A dev cluster":               dev.File{},
		"A demo":                      demo.Summary{},
		"A drill":                     drill.Report{},
		"A benchmark":                 bench.Report{},
		"A benchmark of tools":        bench.ToolReports{},
		"A certificate that was made": certs.Made{},
		"What certificates say":       certs.Inspection{},
		"A version":                   build{},
		"A manual":                    manPages{},
		"A debug bundle":              madeBundle{},
		"An error":                    tell.Report{},
	} {
		require.Contains(t, sections, heading)
		want := fieldsOf(reflect.TypeOf(v), "")
		if heading == "A dev cluster" {
			want = append(want, "data_dir") // of the banner
		}
		slices.Sort(want)
		assert.Equal(t, want, first(sections[heading]), heading)
	}
}

// fieldsOf lists the paths of a type's JSON fields.
func fieldsOf(t reflect.Type, path string) []string {
	var found []string
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if len(field.Index) > 1 || name == "-" {
			continue // reached through the embedded struct
		}
		if field.Anonymous && name == "" {
			found = append(found, fieldsOf(field.Type, path)...)
			continue
		}
		found = append(found, leaves(field.Type, path+name)...)
	}
	return found
}

func leaves(t reflect.Type, path string) []string {
	switch {
	case t == reflect.TypeFor[json.RawMessage]() || t == reflect.TypeFor[value.Raw]() || t == reflect.TypeFor[time.Time]():
	case t.Kind() == reflect.Pointer:
		return leaves(t.Elem(), path)
	case t.Kind() == reflect.Slice:
		return leaves(t.Elem(), path+"[]")
	case t.Kind() == reflect.Struct:
		return fieldsOf(t, path+".")
	}
	return []string{path}
}

// The exit codes stand in the document, in the help and in the API's table, and
// mean the same.
func TestTheDocumentHasEveryExitCode(t *testing.T) {
	sections, _ := document(t)
	assert.Equal(t, []string{"0", "1", "2", "3", "4"}, first(sections["Exit codes"]))
	for _, code := range []string{tell.CodeUsage, tell.CodeInvalidInput, tell.CodeRefused, tell.CodeNotHeld,
		tell.CodeAgentFailed, tell.CodeRunFailed, tell.CodeRunPaused, tell.CodeUnknown, tell.CodeUnreachable, tell.CodeInterrupted} {
		assert.Contains(t, sections["Exit codes"], "`"+code+"`")
	}
}
