package delegation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// chain is one agent below the other.
func chain(depth int) *forest {
	f := newForest()
	for no := range depth + 1 {
		f.issue(uint32(no), 0, 0, 0, 0)
	}
	return f
}

// wide is a tree of n agents, four children each.
func wide(n int) *forest {
	f := newForest()
	f.root()
	for no := 2; no <= n; no++ {
		f.issue(uint32(no+2)/4, 0, 0, 0, 0)
	}
	return f
}

// Reading upwards and finding the next visit allocate nothing; moving on costs
// the one entry that replaces the cascade's.
func TestWalksDoNotAllocate(t *testing.T) {
	f := wide(1_000)
	rows := f.row
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if ok, _, _ := delegation.InForce(rows, 1_000, 0); !ok {
			panic("delegation: not in force")
		}
	}))
	f.void(1, failure.Killed)
	c, ok := f.tables.FirstCascade()
	require.True(t, ok)
	require.Zero(t, testing.AllocsPerRun(500, func() {
		if c.At, ok = delegation.Next(c, rows); !ok {
			panic("delegation: the cascade ended early")
		}
	}))
	moved := &delegation.CascadeMoved{At: 7}
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { f.tables.ApplyMoved(moved) }), 1.0)
}

func BenchmarkInForceAtDepth8(b *testing.B) {
	f := chain(8)
	rows := f.row
	b.ReportAllocs()
	for b.Loop() {
		delegation.InForce(rows, 9, 0)
	}
}

// One operation voids a tree of 10,000 agents and visits all of it.
func BenchmarkDrain10000(b *testing.B) {
	f := wide(10_000)
	rows := f.row
	voided, done := &delegation.ChildrenVoided{Code: failure.Killed}, &delegation.CascadeMoved{Done: true}
	b.ReportAllocs()
	for b.Loop() {
		f.tables.ApplyVoided(&f.rows[1], 1, f.at(), voided)
		for visits := 0; ; visits++ {
			c, _ := f.tables.FirstCascade()
			no, ok := delegation.Next(c, rows)
			if !ok {
				f.tables.ApplyMoved(done)
				require.Equal(b, 9_999, visits)
				break
			}
			f.tables.ApplyMoved(&delegation.CascadeMoved{At: no})
		}
	}
}
