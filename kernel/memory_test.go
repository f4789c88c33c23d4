package kernel_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// ME-1: what a tick keeps in variables ends with it, what it writes to its own
// memory does not, and what it shares others see. A version is the busSeq of
// the record that wrote the value.
func TestThreeScopes(t *testing.T) {
	s := kerneltest.New(t, 2)
	program := inSeq(
		letDo("own", `{"kind":"READ","payload":{"key":"seen","default":0}}`),
		letDo("wrote", `{"kind":"WRITE","payload":{"key":"seen","value":"${own + 1}"}}`),
		letDo("shared", `{"kind":"SHARE","payload":{"namespace":"team","key":"last","value":"${own + 1}"}}`),
		giving(`["${own}","${wrote.version}","${shared.version}"]`),
	)
	id := startFreely(s, "service", program)
	versions := func() (own, shared string) {
		for _, r := range s.Last() {
			if a, ok := r.Content.(*memory.Access); ok && a.Op == memory.OpWrite {
				if a.Scope == memory.ScopeShared {
					shared = strconv.FormatUint(r.Seq, 10)
				} else {
					own = strconv.FormatUint(r.Seq, 10)
				}
			}
		}
		return own, shared
	}
	for run := range 3 {
		own, shared := versions()
		require.JSONEq(t, `[`+strconv.Itoa(run)+`,`+own+`,`+shared+`]`, jsonOf(s, id))
		s.Must(event.AgentSubmit, event.Submit{Agent: id})
	}
	other := startFreely(s, "service", `{"kind":"SEQ","payload":{"steps":[
		{"kind":"LET","payload":{"name":"theirs","do":{"kind":"READ","payload":{"key":"seen","default":"none"}}}},
		{"kind":"LET","payload":{"name":"team","do":{"kind":"READ","payload":{"namespace":"team","key":"last"}}}},
		{"kind":"RETURN","payload":{"value":["${theirs}","${team}"]}}]}}`)
	require.JSONEq(t, `["none",4]`, jsonOf(s, other), "nobody sees another's own memory")
	s.Check()
}

// ME-1, ME-2, TO-3: every access leaves its tick as a call: it is judged, then
// recorded, then answered, then the tick goes on, all in one event. Denied, it is
// judged and recorded as denied, and no memory is touched.
func TestEveryAccessIsJudgedAndRecorded(t *testing.T) {
	for _, test := range []struct{ tool, args, action, resource, answer string }{
		{"memory.read", `{"key":"a/b"}`, "memory.read", "self/a/b", `{"found":false,"value":null,"version":0}`},
		{"memory.write", `{"key":"a/b","value":1}`, "memory.write", "self/a/b", ``},
		{"memory.delete", `{"key":"a/b"}`, "memory.delete", "self/a/b", `{"deleted":false}`},
		{"memory.list", `{"prefix":"a"}`, "memory.read", "self/a", `{"keys":[],"more":false}`},
		{"shared.read", `{"namespace":"n","key":"k"}`, "shared.read", "n/k", `{"found":false,"value":null,"version":0}`},
		{"shared.write", `{"namespace":"n","key":"k","value":1}`, "shared.write", "n/k", ``},
		{"shared.delete", `{"namespace":"n","key":"k"}`, "shared.delete", "n/k", `{"deleted":false}`},
		{"shared.list", `{"namespace":"n"}`, "shared.read", "n", `{"keys":[],"more":false}`},
	} {
		s := kerneltest.New(t, 1)
		id := startFreely(s, "service", callOf(test.tool, test.args, false))
		names := strings.Join(s.Names(), " ")
		require.Contains(t, names, "TICK_PENDING_TOOL ALLOW LIFECYCLE MEMORY_ACCESS ACTION_EXECUTED RESULT_DELIVERED LIFECYCLE TICK_SCHEDULED TICK_STARTED", test.tool)
		judged := kerneltest.Find[*permissions.Evaluation](s, bus.Allow)
		assert.Equal(t, []string{test.action, test.resource}, []string{judged.Action, judged.Resource}, test.tool)
		if test.answer != "" {
			assert.JSONEq(t, test.answer, jsonOf(s, id), test.tool)
		}
		s.Check()

		s = kerneltest.New(t, 1)
		id = s.Start(event.Define{Mode: "service", Grants: []permissions.Grant{}, Program: kerneltest.JSON(t, callOf(test.tool, test.args, false))}, nil)
		require.Equal(t, failure.PermissionDenied, codeOf(s, id))
		denied := kerneltest.Find[*permissions.Evaluation](s, bus.Deny)
		assert.Equal(t, []string{test.action, test.resource}, []string{denied.Action, denied.Resource}, test.tool)
		require.Zero(t, s.Count(bus.MemoryAccess), test.tool)
		require.Zero(t, s.State().Memory.SharedKeys)
		require.Zero(t, s.Row(id).Memory.Keys)
		s.Check()
	}
}

// ME-1: compare-and-set names the version that must be there, 0 for none. A
// stale one is a coded answer that names the present version, on record, and
// changes nothing. Versions are never used again.
func TestCompareAndSet(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := startFreely(s, "service", giving(`0`))
	run := func(program string) string {
		s.Must(event.AgentSubmit, event.Submit{Agent: id, Program: kerneltest.JSON(t, program)})
		return jsonOf(s, id)
	}
	for _, scope := range []struct{ tool, place string }{{"memory", ``}, {"shared", `"namespace":"n",`}} {
		write := func(more string) string {
			return callOf(scope.tool+".write", `{`+scope.place+`"key":"k","value":1`+more+`}`, true)
		}
		require.Contains(t, run(write(`,"version":7`)), `"code":"VERSION_CONFLICT"`)
		require.Contains(t, jsonOf(s, id), "the key does not exist: its version is 0")
		require.Contains(t, run(write(`,"version":0`)), `"ok":true`, "only if there is none")
		first := kerneltest.Find[*memory.Access](s, bus.MemoryAccess)
		require.False(t, first.Found)
		version := versionOf(t, s)
		require.Contains(t, run(write(`,"version":0`)), "the key has version "+version)
		refused := kerneltest.Find[*tools.ActionBody](s, bus.ActionFailed)
		require.Equal(t, failure.VersionConflict, refused.Code, "recorded where it was decided")
		require.Zero(t, s.Count(bus.MemoryAccess))
		require.Contains(t, run(write(`,"version":`+version)), `"ok":true`)
		remove := callOf(scope.tool+".delete", `{`+scope.place+`"key":"k","version":`+version+`}`, true)
		require.Contains(t, run(remove), `"code":"VERSION_CONFLICT"`, "the version before")
		require.Contains(t, run(callOf(scope.tool+".delete", `{`+scope.place+`"key":"k"}`, false)), `true`)
		require.Contains(t, run(write(``)), `"ok":true`)
		require.NotEqual(t, versionOf(t, s), version, "a key that comes back has another version")
	}
	s.Check()
}

// versionOf is the version that the newest block's write gave.
func versionOf(t *testing.T, s *kerneltest.Sim) string {
	t.Helper()
	for _, r := range s.Last() {
		if a, ok := r.Content.(*memory.Access); ok && a.Op == memory.OpWrite {
			return strconv.FormatUint(r.Seq, 10)
		}
	}
	require.FailNow(t, "nothing was written")
	return ""
}

// ME-1: operators write shared memory too, under the same rules: a stale
// version is refused, on record, and changes nothing.
func TestOperatorsShare(t *testing.T) {
	s := kerneltest.New(t, 1)
	one := kerneltest.Value(t, 1)
	at := func(n uint64) *uint64 { return &n }
	put := func(v *uint64) failure.Refusal {
		return s.Command(event.SharedPut, event.PutShared{Namespace: "n", Key: "a/b", Value: one, Version: v}).Refusal
	}
	require.Empty(t, put(at(0)))
	st := s.State()
	version := st.Memory.GetShared("n", "a/b").Version
	before := kerneltest.Substance(s.State())
	for name, refusal := range map[string]failure.Refusal{
		"put there":     put(at(0)),
		"put at older":  put(at(version - 1)),
		"delete older":  s.Command(event.SharedDelete, event.DeleteShared{Namespace: "n", Key: "a/b", Version: at(version + 1)}).Refusal,
		"delete absent": s.Command(event.SharedDelete, event.DeleteShared{Namespace: "n", Key: "x", Version: at(version)}).Refusal,
	} {
		require.Equal(t, failure.VersionConflict, refusal.Code, name)
		require.Equal(t, "version", refusal.Field, name)
		require.Contains(t, refusal.Rule, "version", name)
	}
	require.Equal(t, []string{"EVENT", "OUTCOME"}, s.Names(), "recorded, and nothing else")
	for field, refusal := range map[string]failure.Refusal{
		"namespace": s.Command(event.SharedPut, event.PutShared{Namespace: "a/b", Key: "k", Value: one}).Refusal,
		"key":       s.Command(event.SharedPut, event.PutShared{Namespace: "n", Key: "a//b", Value: one}).Refusal,
		"value":     s.Command(event.SharedPut, event.PutShared{Namespace: "n", Key: "k", Value: []byte{0xff}}).Refusal,
	} {
		require.Equal(t, field, refusal.Field)
	}
	require.Equal(t, failure.NotFound, s.Command(event.SharedDelete, event.DeleteShared{Namespace: "n", Key: "x"}).Refusal.Code)
	require.Equal(t, before, kerneltest.Substance(s.State()))
	require.Empty(t, put(at(version)))
	require.Empty(t, s.Command(event.SharedDelete, event.DeleteShared{Namespace: "n", Key: "a/b"}).Refusal)
	require.Zero(t, s.State().Memory.SharedKeys)
	s.Check()
}

// Requests that memory does not take are answered with TOOL_ARGS_INVALID and
// the rule, without an evaluation: there is nothing to judge (PE-6).
func TestBadMemoryRequests(t *testing.T) {
	for args, rule := range map[string]string{
		`"memory.read","args":{}`:                                       "key must be text",
		`"memory.read","args":{"key":""}`:                               "key: a key has 1 to 256 bytes",
		`"memory.read","args":{"key":"a//b"}`:                           "no segment of a key is empty",
		`"memory.read","args":{"key":"a/*"}`:                            "contain no *",
		`"memory.read","args":{"key":"k","agent":"sister"}`:             "agent must be parent",
		`"memory.write","args":{"key":"k"}`:                             "value is missing",
		`"memory.write","args":{"key":"k","value":1,"agent":"parent"}`:  "unknown argument agent",
		`"memory.write","args":{"key":"k","value":1,"version":-1}`:      "version must be an integer",
		`"memory.delete","args":{"key":"k","agent":"parent"}`:           "unknown argument agent",
		`"memory.list","args":{"limit":0}`:                              "limit must be an integer",
		`"shared.read","args":{"key":"k"}`:                              "namespace must be text",
		`"shared.write","args":{"namespace":"a/b","key":"k","value":1}`: "a namespace is one segment",
		`"shared.list","args":7`:                                        "the arguments must be a map",
	} {
		s := kerneltest.New(t, 1)
		id := startFreely(s, "service", `{"kind":"CALL","payload":{"handle":true,"tool":`+args+`}}`)
		require.Contains(t, jsonOf(s, id), `"code":"TOOL_ARGS_INVALID"`, args)
		require.Contains(t, jsonOf(s, id), rule, args)
		require.Zero(t, s.Count(bus.Allow)+s.Count(bus.Deny)+s.Count(bus.MemoryAccess), args)
	}
	s := kerneltest.New(t, 1)
	id := startFreely(s, "service", callOf("memory.read", `{"key":"k","agent":"parent"}`, true))
	require.Contains(t, jsonOf(s, id), "the agent has no parent")
	s.Check()
}

// Every memory is bounded: MEMORY_FULL. What makes it smaller still goes.
func TestMemoryIsBounded(t *testing.T) {
	write := func(key, value string) string {
		return callOf("memory.write", `{"key":"`+key+`","value":"`+value+`"}`, true)
	}
	share := func(key, value string) string {
		return callOf("shared.write", `{"namespace":"n","key":"`+key+`","value":"`+value+`"}`, true)
	}
	big := strings.Repeat("x", 200)
	for name, test := range map[string]struct {
		limit  func(*config.Config)
		fills  string
		exceed string
	}{
		"keys":         {func(c *config.Config) { c.MaxMemoryKeys = 1 }, write("a", big), write("b", "")},
		"bytes":        {func(c *config.Config) { c.MaxMemoryBytes = 250 }, write("a", big), write("b", big)},
		"all agents":   {func(c *config.Config) { c.MaxPersistentBytes = 250 }, write("a", big), write("b", big)},
		"shared keys":  {func(c *config.Config) { c.MaxSharedKeys = 1 }, share("a", big), share("b", "")},
		"shared bytes": {func(c *config.Config) { c.MaxSharedBytes = 250 }, share("a", big), share("b", big)},
	} {
		s := kerneltest.New(t, 1, test.limit)
		id := startFreely(s, "service", test.fills)
		require.Contains(t, jsonOf(s, id), `"ok":true`, name)
		s.Must(event.AgentSubmit, event.Submit{Agent: id, Program: kerneltest.JSON(t, test.exceed)})
		require.Contains(t, jsonOf(s, id), `"code":"MEMORY_FULL"`, name)
		require.Zero(t, s.Count(bus.MemoryAccess), name)
		s.Must(event.AgentSubmit, event.Submit{Agent: id, Program: kerneltest.JSON(t, strings.Replace(test.fills, big, "y", 1))})
		require.Contains(t, jsonOf(s, id), `"ok":true`, name)
		s.Check()
	}
}

// A listing is in order of keys, goes on behind one, and says whether there is more.
func TestListing(t *testing.T) {
	s := kerneltest.New(t, 1)
	var writes []string
	for _, key := range []string{"b/2", "a", "b/1", "bb", "b/3", "b"} {
		writes = append(writes, `{"kind":"WRITE","payload":{"key":"`+key+`","value":0}}`)
	}
	id := startFreely(s, "service", inSeq(writes...))
	list := func(args string) string {
		s.Must(event.AgentSubmit, event.Submit{Agent: id, Program: kerneltest.JSON(t, inSeq(
			letDo("page", callOf("memory.list", args, false)), giving(`["${[k.key for k in page[\"keys\"]]}","${page.more}"]`)))})
		return jsonOf(s, id)
	}
	require.JSONEq(t, `[["a","b","b/1","b/2","b/3","bb"],false]`, list(`{}`))
	require.JSONEq(t, `[["b/1","b/2","b/3"],false]`, list(`{"prefix":"b"}`), "whole segments")
	require.JSONEq(t, `[["b/1","b/2"],true]`, list(`{"prefix":"b","limit":2}`))
	require.JSONEq(t, `[["b/3"],false]`, list(`{"prefix":"b","after":"b/2"}`))
	s.Check()
}

// LC-8: what an agent stored goes with its tombstone.
func TestMemoryEndsWithTheTombstone(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.RetentionMillis = 100 })
	id := startFreely(s, "task", `{"kind":"WRITE","payload":{"key":"k","value":"v"}}`)
	require.EqualValues(t, 1, s.Row(id).Memory.Keys)
	s.Pass(100)
	require.Equal(t, 1, s.Count(bus.MemoryReleased))
	require.Zero(t, s.Row(id).Memory)
	require.Zero(t, s.State().Memory.PersistentBytes)
	s.Check()
}

// ME-3: suspending writes a snapshot of (agent, tickSeq) with a checksum;
// resuming verifies it, and lets go of it.
func TestSnapshotOfASuspendedAgent(t *testing.T) {
	s := kerneltest.New(t, 2)
	id := startFreely(s, "service", `{"kind":"WRITE","payload":{"key":"k","value":"v"}}`)
	s.Must(event.AgentSubmit, event.Submit{Agent: id, Program: kerneltest.JSON(t, giving(`1`))})
	require.Empty(t, s.Trigger(id, "suspend").Refusal)
	require.Equal(t, []string{"EVENT", "SNAPSHOT_TAKEN", "LIFECYCLE", "TIMER_SET", "OUTCOME"}, s.Names())
	taken := kerneltest.Find[*memory.Snapshotted](s, bus.SnapshotTaken)
	require.EqualValues(t, 2, taken.Tick)
	require.Equal(t, taken.Checksum, s.Row(id).Memory.Snapshot.Checksum)
	require.Empty(t, s.Trigger(id, "resume").Refusal)
	require.Equal(t, []string{"EVENT", "TIMER_CLEARED", "SNAPSHOT_DROPPED", "LIFECYCLE", "OUTCOME"}, s.Names())
	require.Nil(t, s.Row(id).Memory.Snapshot)
	require.Empty(t, s.Trigger(id, "suspend").Refusal)
	require.Equal(t, taken.Checksum, kerneltest.Find[*memory.Snapshotted](s, bus.SnapshotTaken).Checksum, "nothing has changed")
	s.Must(event.AgentTrigger, event.Trigger{Agent: id, Trigger: "expire"})
	require.Equal(t, 1, s.Count(bus.SnapshotDropped))
	s.Check()
}

// ME-3: a snapshot whose checksum is wrong is damage of this replica, whatever
// of it was damaged: the node stops, and names the agent.
func TestDamagedSnapshotStopsTheNode(t *testing.T) {
	for name, damage := range map[string]func(no uint32) bus.Record{
		"a value": func(no uint32) bus.Record {
			return bus.Record{Kind: bus.MemoryAccess, Agent: no, Body: &memory.Access{
				Op: memory.OpWrite, Scope: memory.ScopePersistent, Owner: no, Key: "k", Value: kerneltest.Value(t, "w"), Call: 1, Run: 1,
			}}
		},
		"a key too few": func(no uint32) bus.Record {
			return bus.Record{Kind: bus.MemoryAccess, Agent: no, Body: &memory.Access{
				Op: memory.OpDelete, Scope: memory.ScopePersistent, Owner: no, Key: "k", Call: 1, Run: 1,
			}}
		},
		"the checksum": func(no uint32) bus.Record {
			return bus.Record{Kind: bus.SnapshotTaken, Agent: no, Body: &memory.Snapshotted{Tick: 1, Checksum: [32]byte{1}}}
		},
	} {
		s := kerneltest.New(t, 1)
		id := startFreely(s, "service", `{"kind":"WRITE","payload":{"key":"k","value":"v"}}`)
		require.Empty(t, s.Trigger(id, "suspend").Refusal)
		s.Commit(event.Event{Kind: event.Pulse}, kernel.Inject(damage(numberOf(s, id))))
		require.PanicsWithValue(t, "flows: the snapshot of agent "+id+
			" does not have the checksum of its suspension: this replica's state is damaged; seed the node again",
			func() { s.Trigger(id, "resume") }, name)
	}
}

// DE-4: a child cannot read its parent's memory unless a grant says so, and
// cannot write it at all. What it is granted its parent must have.
func TestParentsMemory(t *testing.T) {
	read := callOf("memory.read", `{"key":"notes/a","agent":"parent"}`, true)
	for name, test := range map[string]struct {
		grants string
		want   string
	}{
		"no grant":       {``, `"code":"PERMISSION_DENIED"`},
		"its own memory": {`{"effect":"ALLOW","action":"memory.*","resource":"self/**"}`, `"code":"PERMISSION_DENIED"`},
		"granted":        {`{"effect":"ALLOW","action":"memory.read","resource":"parent/notes/**"}`, `"value":"hers"`},
		"another part":   {`{"effect":"ALLOW","action":"memory.read","resource":"parent/other/**"}`, `"code":"PERMISSION_DENIED"`},
	} {
		s := kerneltest.New(t, 1)
		id := startFreely(s, "task", inSeq(
			`{"kind":"WRITE","payload":{"key":"notes/a","value":"hers"}}`,
			letDo("got", delegateTo("", kid(read, test.grants, ""))),
			giving(`"${got[0].value}"`)))
		require.Equal(t, lifecycle.Terminated, s.StateOf(id), name)
		require.Contains(t, jsonOf(s, id), test.want, name)
		s.Check()
	}
	s := kerneltest.New(t, 1)
	id := s.Start(event.Define{Grants: []permissions.Grant{
		{Effect: permissions.Allow, Action: "agent.*", Resource: "**"}, {Effect: permissions.Allow, Action: "memory.read", Resource: "self/own/**"},
	}, Program: kerneltest.JSON(t, delegateTo("", kid(read, `{"effect":"ALLOW","action":"memory.read","resource":"parent/notes/**"}`, "")))}, nil)
	require.Equal(t, failure.Rejected, codeOf(s, id), "its parent has no notes to show")
	s.Check()
}
