package kernel_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/value"
)

const schema = `{"type":"object","required":["url"],"properties":{"url":{"type":"string"}}}`

// schemaOf is what is kept of the schema of an agent's input.
func schemaOf(s *kerneltest.Sim, id string) string {
	return string(value.Raw(s.State().Interned.Body(s.Row(id).Identity.Input)).AppendJSON(nil))
}

// EX-14: the schema of an input is kept with the definition, is a fork's too, and is
// given back with the rest. The kernel itself judges nothing by it.
func TestInputSchemaIsKept(t *testing.T) {
	s := kerneltest.New(t, 1)
	before := s.State().Interned.Bytes
	define := event.Define{Program: kerneltest.JSON(t, literal), Input: kerneltest.JSON(t, schema), Mode: "service"}
	id := s.Start(define, 17)
	require.JSONEq(t, schema, schemaOf(s, id))
	require.True(t, s.Row(id).Execution.Result.OK)

	other := forked(s, now(s, id))
	require.JSONEq(t, schema, schemaOf(s, other))
	require.Equal(t, s.Row(id).Identity.Input, s.Row(other).Identity.Input, "it is in the log once")

	s.Kill(id)
	s.Kill(other)
	s.Pass(s.State().Config.RetentionMillis)
	require.Zero(t, s.Row(id).Identity.Input)
	require.Equal(t, before, s.State().Interned.Bytes)
	s.Check()
}

// EX-14: what is no schema, and a schema of nothing, is refused with its field.
func TestInputSchemaIsChecked(t *testing.T) {
	s := kerneltest.New(t, 1)
	program := kerneltest.JSON(t, literal)
	deep := append(kerneltest.JSON(t, `{"a":[]}`)[:3:3], 0x81, 0x60) // {"a":[""]}
	deep[len(deep)-1] = 0x7f                                         // no end
	for _, bad := range []struct {
		define event.Define
		code   failure.Code
		field  string
	}{
		{event.Define{Program: program, Input: kerneltest.JSON(t, `{"type":"object"}`)}, "", ""},
		{event.Define{Program: program, Input: value.False}, "", ""},
		{event.Define{Program: program, Input: value.Null}, failure.InvalidArgument, "input"},
		{event.Define{Program: program, Input: kerneltest.JSON(t, `[]`)}, failure.InvalidArgument, "input"},
		{event.Define{Input: value.True}, failure.InvalidArgument, "input"},
		{event.Define{Program: program, Input: deep}, failure.InvalidValue, "input.a[0]"},
		{event.Define{Program: program, Input: kerneltest.JSON(t, `{"const":"`+strings.Repeat("x", flows.MaxInputBytes)+`"}`)}, failure.InvalidValue, "input"},
	} {
		outcome := s.Command(event.AgentDefine, bad.define)
		require.Equal(t, bad.code, outcome.Refusal.Code)
		require.Equal(t, bad.field, outcome.Refusal.Field)
	}
	run := event.PlanRun{Agent: event.Define{Program: program, Input: value.True}, Tasks: []event.RunTask{{Name: "a"}}}
	require.Equal(t, "agent.input", s.Command(event.RunPlan, run).Refusal.Field)
	s.Check()
}
