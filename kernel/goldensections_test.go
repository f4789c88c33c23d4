package kernel_test

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// The bytes of every kind of snapshot section, the first of each.
func TestGoldenSections(t *testing.T) {
	s := kerneltest.NewWith(t, 1, lookupWords, kerneltest.Version1, func(c *config.Config) { c.WorkPerEvent = 1000 })
	session := kerneltest.SessionAt(s.Wall, 9)
	program := kerneltest.JSON(t, `{"kind":"SEQ","payload":{"steps":[{"kind":"LET","payload":{"name":"a","value":1}},`+callEcho+`]}}`)
	s.Apply(kerneltest.InSession(session, 1, 1, event.AgentStart, event.Start{
		Define: event.Define{ID: s.NewID(), Grants: allowAll, Program: program},
	}))
	s.Apply(event.Event{Kind: event.AgentSubmit, IdempotencyKey: "k", Body: event.Encode(event.Submit{Agent: kerneltest.AgentID(1)})})
	wordAgent(s, "word/1", "breach") // the audit log
	s.Must(event.SharedPut, event.PutShared{Namespace: "n", Key: "k", Value: kerneltest.Value(t, 1)})
	spends := account(s, spender(s, 100, paid("GET", 30), paid("GET", 60), paid("GET", 50))).Agent
	s.Start(event.Define{Grants: freely, Program: kerneltest.JSON(t, `{"kind":"DELEGATE","payload":{"children":[{
		"grants":[{"effect":"ESCALATE","action":"tool.call","resource":"**"}],"program":`+callEcho+`}]}}`)}, nil)
	parent := s.Start(event.Define{Grants: freely, Program: kerneltest.JSON(t, `{"kind":"SEQ","payload":{"steps":[
		{"kind":"WRITE","payload":{"key":"k","value":1}},
		{"kind":"DELEGATE","payload":{"children":[{"grants":[`+allowEcho+`],"program":`+callEcho+`}]}}]}}`)}, nil)
	s.Must(event.RunPlan, event.PlanRun{Goal: "g", Start: true, Agent: event.Define{Grants: freely}, Tasks: []event.RunTask{
		{Name: "a", Program: kerneltest.JSON(t, literal)}, {Name: "b", Program: kerneltest.JSON(t, callEcho), Uses: []string{"a"}},
	}})
	s.Register(manifest)
	spent := strings.Repeat("p", 70_000) // spends the work of an event, so that the tick stays queued …
	s.Apply(event.Event{
		Kind: event.AgentStart, Principal: spent,
		Body: event.Encode(event.Start{Define: event.Define{ID: s.NewID(), Program: kerneltest.JSON(t, literal)}}),
	})
	require.Empty(t, s.Suspend("why").Refusal)
	paidFor := s.Pending[slices.IndexFunc(s.Pending, func(k tools.Key) bool { return k.Agent == spends })]
	s.Apply(event.Event{ // … nobody looks at the call that has room now …
		Kind: event.ToolResult, Principal: spent, Body: event.Encode(event.Result{Agent: paidFor.Agent, Tick: paidFor.Tick, Call: paidFor.Call, OK: true, Metered: true}),
	})
	s.Apply(event.Event{ // … and the cascade has only begun
		Kind: event.TokenRevoke, Principal: spent, Body: event.Encode(event.RevokeToken{Agent: parent}),
	})
	var lines []string
	last := byte(0)
	for _, one := range sections(s) {
		if one.Kind != last {
			lines = append(lines, fmt.Sprintf("%d %s", one.Kind, hex.EncodeToString(one.Body)))
		}
		last = one.Kind
	}
	require.Len(t, lines, 22, "every kind of section")
	require.Empty(t, s.Resume("go on").Refusal)
	require.Empty(t, s.Upgrade().Refusal) // what version 2 adds comes behind all that
	s.Start(event.Define{Program: kerneltest.JSON(t, literal)}, nil)
	all := sections(s)
	newest := all[len(all)-1]
	require.EqualValues(t, 50, newest.Kind)
	lines = append(lines, fmt.Sprintf("%d %s", all[0].Kind, hex.EncodeToString(all[0].Body)), fmt.Sprintf("%d %s", newest.Kind, hex.EncodeToString(newest.Body)))
	golden(t, "sections.golden", lines)
}
