package memory_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// agents of the model are numbered from 1; 0 stands for shared memory.
const agents = 4

// address of an entry, as the model keeps it.
type address struct {
	agent          uint32
	namespace, key string
}

// naive is the memory as a plain map, and what each agent's tick would go back to.
type naive struct {
	entries map[address]memory.Entry
	ticks   [agents + 1]struct {
		tick   uint64
		run    uint32
		before map[address]memory.Entry // the agent's memory when the run began
	}
}

func (n *naive) ofAgent(agent uint32) map[address]memory.Entry {
	own := maps.Clone(n.entries)
	maps.DeleteFunc(own, func(a address, _ memory.Entry) bool { return a.agent != agent })
	return own
}

func (n *naive) clone() *naive {
	dup := *n
	dup.entries = maps.Clone(n.entries)
	return &dup
}

// pair is a real memory beside the model of it.
type pair struct {
	tables memory.Tables
	rows   [agents + 1]memory.Row
	model  *naive
	seq    uint64
}

var (
	keys       = []string{"a", "a/b", "a/b/c", "ab", "z", "ä"}
	namespaces = []string{"plan", "plans", "x"}
)

func (p *pair) at() bus.At {
	p.seq += 3
	return bus.At{Seq: p.seq, Now: int64(p.seq) * 10}
}

// access does a read, a write or a delete, of an agent's memory or of the
// shared one, and asserts that Look saw what the model has.
func (p *pair) access(t *rapid.T) {
	agent := rapid.Uint32Range(1, agents).Draw(t, "agent")
	state := &p.model.ticks[agent]
	if state.tick == 0 || rapid.IntRange(0, 3).Draw(t, "another run") == 0 {
		state.run++
		if state.tick == 0 || rapid.Bool().Draw(t, "another tick") {
			state.tick, state.run = state.tick+1, 1
		}
		state.before = p.model.ofAgent(agent)
	}
	a := &memory.Access{
		Op: memory.Op(rapid.IntRange(1, 4).Draw(t, "op")), Scope: memory.ScopePersistent, Owner: agent,
		Key: rapid.SampledFrom(keys).Draw(t, "key"), Call: 1, Run: state.run,
	}
	row := &p.rows[agent]
	if rapid.Bool().Draw(t, "shared") {
		a.Scope, a.Owner, a.Namespace, row = memory.ScopeShared, 0, rapid.SampledFrom(namespaces).Draw(t, "namespace"), nil
	}
	if a.Op == memory.OpWrite {
		a.Value = value.AppendString(nil, rapid.StringN(0, 20, 20).Draw(t, "value"))
	}
	where := address{a.Owner, a.Namespace, a.Key}
	known, ok := p.model.entries[where]
	if seen := p.tables.Look(a); a.Op != memory.OpList {
		require.Equal(t, ok, seen != nil)
		require.Equal(t, ok, a.Found)
		require.Equal(t, known.Version, a.Version)
	}
	decoded, valid := memory.DecodeAccess(a.AppendTo(nil))
	require.True(t, valid)
	require.Equal(t, a, decoded)
	at := p.at()
	p.tables.ApplyAccess(row, agent, state.tick, at, decoded)
	switch a.Op {
	case memory.OpWrite:
		p.model.entries[where] = memory.Entry{
			Agent: a.Owner, Namespace: a.Namespace, Key: a.Key, Value: a.Value, Version: at.Seq, Writer: agent, At: at.Now,
		}
	case memory.OpDelete:
		delete(p.model.entries, where)
	}
}

// restore takes an agent's memory back to where its current run began (FA-1).
func (p *pair) restore(t *rapid.T) {
	agent := rapid.Uint32Range(1, agents).Draw(t, "agent")
	state := &p.model.ticks[agent]
	if state.tick == 0 {
		return
	}
	require.Nil(t, p.rows[agent].PutBack(state.tick, state.run+1), "nothing of another run")
	require.Nil(t, p.rows[agent].PutBack(state.tick+1, state.run), "nothing of another tick")
	body := &memory.Restored{Entries: p.rows[agent].PutBack(state.tick, state.run)}
	decoded, ok := memory.DecodeRestored(body.AppendTo(nil))
	require.True(t, ok)
	require.Equal(t, len(body.Entries), len(decoded.Entries))
	p.tables.ApplyRestored(&p.rows[agent], agent, decoded)
	maps.DeleteFunc(p.model.entries, func(a address, _ memory.Entry) bool { return a.agent == agent })
	maps.Copy(p.model.entries, state.before)
}

func (p *pair) release(t *rapid.T) {
	agent := rapid.Uint32Range(1, agents).Draw(t, "agent")
	p.tables.ApplyReleased(&p.rows[agent], agent)
	require.Zero(t, p.rows[agent])
	maps.DeleteFunc(p.model.entries, func(a address, _ memory.Entry) bool { return a.agent == agent })
	p.model.ticks[agent].tick = 0
}

// reload takes the tables through what a snapshot keeps of them.
func (p *pair) reload(*rapid.T) {
	fresh := memory.New()
	load := func(e *memory.Entry) bool {
		dup := *e
		fresh.Load(&dup)
		return true
	}
	p.tables.AllShared(load)
	p.tables.All(load)
	p.tables = fresh
}

// check compares everything that can be read with the model.
func (p *pair) check(t require.TestingT) {
	var want, got []memory.Entry
	var shared, persistent uint64
	var counts [agents + 1]memory.Row
	for _, e := range p.model.entries {
		want = append(want, e)
		size := uint64(len(e.Namespace) + len(e.Key) + len(e.Value))
		counts[e.Agent].Keys++
		counts[e.Agent].Bytes += size
		if e.Agent == 0 {
			shared += size
		} else {
			persistent += size
		}
	}
	slices.SortFunc(want, func(a, b memory.Entry) int {
		if a.Agent != b.Agent {
			return int(a.Agent) - int(b.Agent)
		}
		if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
			return c
		}
		return strings.Compare(a.Key, b.Key)
	})
	collect := func(e *memory.Entry) bool {
		got = append(got, *e)
		return true
	}
	p.tables.AllShared(collect)
	require.EqualValues(t, len(got), p.tables.SharedKeys)
	p.tables.All(collect)
	require.Equal(t, want, got)
	require.Equal(t, shared, p.tables.SharedBytes)
	require.Equal(t, persistent, p.tables.PersistentBytes)
	require.EqualValues(t, counts[0].Keys, p.tables.SharedKeys)
	for agent := 1; agent <= agents; agent++ {
		require.Equal(t, counts[agent].Keys, p.rows[agent].Keys, "agent %d", agent)
		require.Equal(t, counts[agent].Bytes, p.rows[agent].Bytes, "agent %d", agent)
	}
	for _, e := range want {
		if e.Agent == 0 {
			require.Equal(t, &e, p.tables.GetShared(e.Namespace, e.Key))
		} else {
			require.Equal(t, &e, p.tables.Get(e.Agent, e.Key))
		}
	}
}

// ME-1, FA-1: over any history of accesses, recoveries, archivings and
// restarts, the tables are the plain map, counts included, and no published
// copy is changed by what comes after it.
func TestAgainstAPlainMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &pair{tables: memory.New(), model: &naive{entries: map[address]memory.Entry{}}}
		var published []pair
		step := map[string]func(*rapid.T){
			"access": p.access, "access again": p.access, "and again": p.access, "restore": p.restore,
			"release": p.release, "reload": p.reload,
			"publish": func(*rapid.T) {
				published = append(published, pair{tables: p.tables.Publish(), rows: p.rows, model: p.model.clone()})
			},
			"": func(t *rapid.T) { p.check(t) },
		}
		t.Repeat(step)
		for i := range published {
			published[i].check(t)
		}
	})
}
