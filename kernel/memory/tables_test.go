package memory_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// store is a small memory: agent 1's keys, agent 2's, and two namespaces.
func store(t *testing.T) (memory.Tables, []memory.Row) {
	t.Helper()
	tables, rows := memory.New(), make([]memory.Row, 3)
	seq := uint64(0)
	write := func(agent uint32, namespace, key string) {
		seq++
		a := &memory.Access{
			Op: memory.OpWrite, Scope: memory.ScopePersistent, Owner: agent, Key: key, Value: value.AppendInt(nil, int64(seq)), Run: 1,
		}
		if namespace != "" {
			a.Scope, a.Owner, a.Namespace = memory.ScopeShared, 0, namespace
		}
		tables.ApplyAccess(&rows[agent], agent, 1, bus.At{Seq: seq, Now: int64(seq)}, a)
	}
	for _, key := range []string{"b/2", "a", "b", "b/1", "b/3", "bb", "c"} {
		write(1, "", key)
	}
	write(2, "", "b/9")
	write(2, "plan", "b/1")
	write(1, "plan", "b/2")
	write(1, "plans", "b/3")
	return tables, rows
}

// A listing goes through one memory only, in order, from behind a key, and says
// whether it left something out.
func TestList(t *testing.T) {
	tables, _ := store(t)
	for _, test := range []struct {
		namespace, prefix, after string
		limit                    uint32
		want                     []string
		more                     bool
	}{
		{"", "", "", 100, []string{"a", "b", "b/1", "b/2", "b/3", "bb", "c"}, false},
		{"", "", "", 7, []string{"a", "b", "b/1", "b/2", "b/3", "bb", "c"}, false},
		{"", "", "", 6, []string{"a", "b", "b/1", "b/2", "b/3", "bb"}, true},
		{"", "", "", 0, nil, true},
		{"", "b", "", 9, []string{"b", "b/1", "b/2", "b/3", "bb"}, false},
		{"", "b/", "", 9, []string{"b/1", "b/2", "b/3"}, false},
		{"", "b/", "", 2, []string{"b/1", "b/2"}, true},
		{"", "b/", "b/2", 9, []string{"b/3"}, false},
		{"", "b/", "b/15", 9, []string{"b/2", "b/3"}, false},
		{"", "b/", "a", 9, []string{"b/1", "b/2", "b/3"}, false},
		{"", "b/", "b/3", 9, nil, false},
		{"", "b/", "c", 9, nil, false},
		{"", "b", "b", 1, []string{"b/1"}, true},
		{"", "d", "", 9, nil, false},
		{"plan", "", "", 9, []string{"b/1", "b/2"}, false},
		{"plan", "b/", "b/1", 9, []string{"b/2"}, false},
		{"plans", "", "", 9, []string{"b/3"}, false},
		{"pla", "", "", 9, nil, false},
	} {
		var got []string
		collect := func(e *memory.Entry) bool {
			got = append(got, e.Key)
			return true
		}
		list := func() bool { return tables.List(1, test.prefix, test.after, test.limit, collect) }
		if test.namespace != "" {
			list = func() bool { return tables.ListShared(test.namespace, test.prefix, test.after, test.limit, collect) }
		}
		more := list()
		assert.Equal(t, test.want, got, "%+v", test)
		assert.Equal(t, test.more, more, "%+v", test)
	}
	more := tables.List(1, "", "", 5, func(*memory.Entry) bool { return false })
	require.False(t, more, "the caller ended it")
}

// An entry says who wrote it, when, and under which busSeq.
func TestEntry(t *testing.T) {
	tables, rows := store(t)
	require.Equal(t, &memory.Entry{Agent: 2, Key: "b/9", Value: value.AppendInt(nil, 8), Version: 8, Writer: 2, At: 8}, tables.Get(2, "b/9"))
	require.Equal(t, &memory.Entry{Namespace: "plan", Key: "b/2", Value: value.AppendInt(nil, 10), Version: 10, Writer: 1, At: 10},
		tables.GetShared("plan", "b/2"))
	require.Nil(t, tables.Get(1, "b/9"))
	require.Nil(t, tables.Get(0, "b/2"))
	require.EqualValues(t, 7, rows[1].Keys)
	require.EqualValues(t, 3, tables.SharedKeys)

	buffer := value.AppendString(nil, "xyz")
	tables.ApplyAccess(nil, 1, 1, bus.At{Seq: 20}, &memory.Access{
		Op: memory.OpWrite, Scope: memory.ScopeShared, Namespace: "plan", Key: "b/1", Value: buffer,
	})
	buffer[1] = '!'
	require.Equal(t, value.Raw("\x63xyz"), tables.GetShared("plan", "b/1").Value, "the log's buffer is not kept")
}

// What concerns a row that is not there, or agent 0, changes nothing.
func TestAppliersAreTotal(t *testing.T) {
	tables, rows := store(t)
	before, row := tables.Publish(), rows[1]
	write := &memory.Access{Op: memory.OpWrite, Scope: memory.ScopePersistent, Owner: 1, Key: "a", Value: value.Null}
	tables.ApplyAccess(nil, 1, 1, bus.At{Seq: 99}, write)
	tables.ApplyReleased(&memory.Row{}, 0)
	tables.ApplyReleased(&memory.Row{}, 77)
	tables.ApplyAccess(&rows[1], 1, 2, bus.At{Seq: 99}, &memory.Access{Op: memory.OpDelete, Scope: memory.ScopePersistent, Owner: 1, Key: "none"})
	require.Equal(t, all(&before), all(&tables))
	require.Equal(t, row, rows[1], "what was not there needs not be put back")
}

func all(tables *memory.Tables) (entries []string) {
	collect := func(e *memory.Entry) bool {
		entries = append(entries, fmt.Sprint(*e))
		return true
	}
	tables.AllShared(collect)
	tables.All(collect)
	return entries
}

// FA-1: what counts is a key's first writing in a run; another run, another
// tick, a recovery and the end of the tick start afresh, and a published row
// keeps its list.
func TestUndo(t *testing.T) {
	tables, row, seq := memory.New(), memory.Row{}, uint64(100)
	change := func(op memory.Op, tick uint64, run uint32, key string) {
		seq++
		tables.ApplyAccess(&row, 1, tick, bus.At{Seq: seq, Now: 7}, &memory.Access{
			Op: op, Scope: memory.ScopePersistent, Owner: 1, Key: key, Value: value.AppendInt(nil, int64(seq)), Run: run,
		})
	}
	was := func(key string, version uint64) memory.Before {
		if version == 0 {
			return memory.Before{Key: key}
		}
		return memory.Before{Key: key, Existed: true, Value: value.AppendInt(nil, int64(version)), Version: version, Writer: 1, At: 7}
	}
	change(memory.OpWrite, 1, 1, "a") // 101
	require.Equal(t, []memory.Before{was("a", 0)}, row.PutBack(1, 1))
	change(memory.OpWrite, 1, 2, "a") // 102
	require.Equal(t, []memory.Before{was("a", 101)}, row.PutBack(1, 2))
	require.Nil(t, row.PutBack(1, 1))
	change(memory.OpDelete, 1, 2, "a") // 103
	change(memory.OpDelete, 1, 2, "b") // never was
	change(memory.OpWrite, 1, 2, "b")  // 105
	published := row
	change(memory.OpWrite, 1, 2, "c") // 106
	require.Equal(t, []memory.Before{was("a", 101), was("b", 0), was("c", 0)}, row.PutBack(1, 2))
	require.Equal(t, []memory.Before{was("a", 101), was("b", 0)}, published.PutBack(1, 2))
	fork, others := row, tables.Publish()
	change(memory.OpWrite, 1, 2, "d") // 107
	for _, key := range []string{"x", "y"} {
		other := memory.New()
		other.ApplyAccess(&fork, 1, 1, bus.At{}, &memory.Access{Op: memory.OpWrite, Scope: memory.ScopePersistent, Owner: 1, Key: key, Run: 2})
	}
	require.Equal(t, []memory.Before{was("a", 101), was("b", 0), was("c", 0), was("d", 0)}, row.PutBack(1, 2), "nobody else's")
	require.Nil(t, others.Get(1, "d"))
	tables.ApplyRestored(&row, 1, &memory.Restored{Entries: row.PutBack(1, 2)})
	require.Nil(t, tables.Get(1, "d"))
	require.Equal(t, memory.Row{Keys: 1, Bytes: 1 + 2}, row)
	require.EqualValues(t, 101, tables.Get(1, "a").Version, "the version goes back too")
	change(memory.OpDelete, 2, 2, "a")
	require.Equal(t, []memory.Before{was("a", 101)}, row.PutBack(2, 2))
	row.ApplyTickOver()
	require.Zero(t, row)
}

// ME-3: a snapshot is kept by its tick, and its checksum is that of the agent's
// memory and its frozen tick: anything else gives another.
func TestSnapshot(t *testing.T) {
	tables, rows := store(t)
	sum := tables.Checksum(1, []byte("tick"))
	row := &rows[1]
	row.ApplySnapshotted(bus.At{Seq: 50}, &memory.Snapshotted{Tick: 4, Checksum: sum})
	require.Equal(t, &memory.Snapshot{Tick: 4, Checksum: sum, Seq: 50}, row.Snapshot)
	published := *row
	row.ApplySnapshotDropped()
	require.Nil(t, row.Snapshot)
	require.NotNil(t, published.Snapshot)

	change := func(agent uint32, op memory.Op, key string, seq uint64, now int64, v value.Raw) {
		tables.ApplyAccess(&rows[agent], agent, 9, bus.At{Seq: seq, Now: now}, &memory.Access{
			Op: op, Scope: memory.ScopePersistent, Owner: agent, Key: key, Value: v, Run: 1,
		})
	}
	change(2, memory.OpWrite, "q", 60, 1, value.Null)
	require.Equal(t, sum, tables.Checksum(1, []byte("tick")), "another agent's memory")
	seen := map[[32]byte]string{sum: "as suspended"}
	differs := func(what string, sum [32]byte) {
		assert.Empty(t, seen[sum], what)
		seen[sum] = what
	}
	differs("another frozen tick", tables.Checksum(1, []byte("tock")))
	differs("no frozen tick", tables.Checksum(1, nil))
	differs("another agent", tables.Checksum(2, []byte("tick")))
	differs("nobody", tables.Checksum(77, []byte("tick")))
	change(1, memory.OpWrite, "a", 70, 2, value.AppendInt(nil, 2))
	differs("another version", tables.Checksum(1, []byte("tick")))
	change(1, memory.OpWrite, "a", 70, 2, value.AppendInt(nil, 3))
	differs("another value", tables.Checksum(1, []byte("tick")))
	change(1, memory.OpWrite, "a", 70, 3, value.AppendInt(nil, 3))
	differs("another time", tables.Checksum(1, []byte("tick")))
	change(1, memory.OpDelete, "a", 71, 3, nil)
	differs("one key less", tables.Checksum(1, []byte("tick")))
	change(1, memory.OpWrite, "a/a", 70, 3, value.AppendInt(nil, 3))
	differs("another key", tables.Checksum(1, []byte("tick")))
}

// The checksum's input is a format: this is its value.
func TestChecksumIsPinned(t *testing.T) {
	tables, _ := store(t)
	require.Equal(t, "5b16f811487dff52b9f884dbcf80ef9808c1b8eaf1237a89347f7e1d8b4b5553", fmt.Sprintf("%x", tables.Checksum(1, []byte("tick"))))
}

// Reading allocates nothing.
func TestReadsDoNotAllocate(t *testing.T) {
	tables, _ := store(t)
	count := 0
	each := func(*memory.Entry) bool {
		count++
		return true
	}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if tables.Get(1, "b/1") == nil || tables.GetShared("plan", "b/1") == nil {
			panic("memory: lost an entry")
		}
	}))
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { tables.List(1, "b/", "", 9, each) }), 4.0)
	require.Positive(t, count)
}
