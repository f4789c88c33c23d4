package flows_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
)

func pairs(n int, key, text string) map[string]string {
	m := make(map[string]string, n)
	for i := range n {
		m[key+fmt.Sprint(i)] = text
	}
	return m
}

// The rules of a definition that the door holds too: each names its field, with
// the prefix that the command gives it.
func TestCheckDefine(t *testing.T) {
	for field, bad := range map[string][]event.Define{
		"id":        {{ID: "x"}, {ID: "018F4E5C-0000-7000-8000-000000000001"}, {ID: "00000000-0000-0000-0000-000000000000"}},
		"name":      {{Name: strings.Repeat("n", 129)}, {Name: "a\nb"}, {Name: "a\x7f"}, {Name: "\xff"}},
		"mode":      {{Mode: "job"}, {Mode: "TASK"}},
		"labels":    {{Labels: pairs(33, "k", "v")}, {Labels: map[string]string{"": "v"}}, {Labels: pairs(1, strings.Repeat("k", 128), "v")}, {Labels: pairs(1, "a\t", "v")}},
		"labels.k0": {{Labels: pairs(1, "k", strings.Repeat("v", 129))}, {Labels: pairs(20, "k", "\xff")}, {Labels: pairs(1, "k", "\xff")}},
		"env":       {{Env: pairs(65, "k", "v")}},
		"env.k0":    {{Env: pairs(1, "k", strings.Repeat("v", 4097))}},
	} {
		for _, d := range bad {
			r := flows.CheckDefine(&d, "agent.")
			require.NotNil(t, r, "%s: %+v", field, d)
			assert.Equal(t, failure.InvalidArgument, r.Code)
			assert.Equal(t, "agent."+field, r.Field)
			assert.NotEmpty(t, r.Rule)
		}
	}
	for _, d := range []event.Define{
		{}, {ID: kerneltest.AgentID(1), Name: strings.Repeat("é", 64), Mode: "task"}, {Mode: "service"},
		{Labels: pairs(32, "k", strings.Repeat("v", 128)), Env: pairs(64, "k", strings.Repeat("v", 4096))},
		{Labels: pairs(1, strings.Repeat("k", 127), "")}, {Env: pairs(1, "k", "any\ntext\x00")},
	} {
		require.Nil(t, flows.CheckDefine(&d, ""), "%+v", d)
	}
}

// What takes a compiler: the evaluator, the program, the grants.
func TestCheckCompiles(t *testing.T) {
	for field, bad := range map[string]event.Define{
		"evaluator":              {Evaluator: "std/9"},
		"program.kind":           {Program: kerneltest.JSON(t, `{"kind":"JUMP"}`)},
		"program":                {Program: value.Raw{0xff}},
		"grants[1].resource":     {Grants: []permissions.Grant{kerneltest.AllowAll()[0], {Effect: permissions.Allow, Action: "tool.call", Resource: "a*"}}},
		"grants[0].effect":       {Grants: []permissions.Grant{{Action: "tool.call", Resource: "**"}}},
		"grants[0].not_after_ms": {Grants: []permissions.Grant{{Effect: permissions.Deny, Action: "tool.call", Resource: "**", NotAfterMillis: -1}}},
	} {
		r := flows.CheckCompiles(&bad, "agent.", registry.Lookup)
		require.NotNil(t, r, field)
		assert.Equal(t, "agent."+field, r.Field)
	}
	good := event.Define{Evaluator: "std/1", Grants: kerneltest.AllowAll(), Program: kerneltest.JSON(t, `{"kind":"LITERAL","payload":{"value":1}}`)}
	require.Nil(t, flows.CheckCompiles(&good, "", registry.Lookup))
}

// EV-10: an id has one spelling.
func TestIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := identity.ID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		back, ok := flows.ParseID(flows.FormatID(id))
		require.Equal(t, id != identity.ID{}, ok)
		require.Equal(t, id, back)
		_, ok = flows.ParseID(rapid.StringN(0, 40, 40).Draw(t, "text"))
		require.False(t, ok)
		// Any byte of a good one replaced: the same id is never read twice, and
		// whatever stands there is refused or read, never more.
		text := []byte(flows.FormatID(id))
		at, with := rapid.IntRange(0, len(text)-1).Draw(t, "at"), rapid.OneOf(rapid.Just(byte('-')), rapid.Byte()).Draw(t, "with")
		text[at] = with
		if other, ok := flows.ParseID(string(text)); ok {
			require.Equal(t, string(text), flows.FormatID(other))
		}
	})
}

// A program is interned with the evaluator it was written for, and taken apart
// as it was put together.
func TestProgramBody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "evaluator")
		program := value.Raw(rapid.SliceOf(rapid.Byte()).Draw(t, "program"))
		gotName, gotProgram := flows.ParseProgramBody(flows.ProgramBody(name, program))
		require.Equal(t, name, gotName)
		require.Equal(t, string(program), string(gotProgram))
	})
}

// A dash too many is no way past the end of the text.
func TestDashesInIDs(t *testing.T) {
	for at := range 36 {
		text := []byte(kerneltest.AgentID(1))
		dash := text[at] == '-'
		text[at] = '-'
		_, ok := flows.ParseID(string(text))
		require.Equal(t, dash, ok, "%s", text)
	}
}
