package check_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
	"github.com/omnikernel/omnikernel/transport/api"
)

// readsRun is a history of one key as it would be recorded of nodes that are right:
// each holds a part of the log that grows, and says how old that part is.
func readsRun(t testing.TB, seed uint64) (ops []history.Op) {
	dice := rand.New(rand.NewPCG(seed, 2))
	type version struct {
		at    int64 // when it was acknowledged
		index uint64
		value int64
	}
	log := []version{{index: 1}} // before the first write
	seen := map[string]uint64{}
	for i := range 400 {
		now := int64(i+20) * int64(10*time.Millisecond)
		op := history.Op{Workload: model.Reads, Key: "k/1", Outcome: history.Ok, Called: now, Returned: now + int64(5*time.Millisecond)}
		if dice.IntN(3) == 0 {
			newest := version{at: op.Returned, index: uint64(i+1) * 10, value: int64(i + 1)}
			log = append(log, newest)
			op.Name, op.Index, op.Node = model.Write, newest.index, "n1"
			op.Out = body(t, model.ReadsOut{Value: newest.value, Version: newest.index * 7})
			ops = append(ops, op)
			continue
		}
		in := model.ReadsIn{Node: fmt.Sprintf("n%d", 1+dice.IntN(3)), Level: api.Stale}
		lag := dice.Int64N(300)
		from := len(log) - 1
		for from > 0 && log[from].at > now-lag*int64(time.Millisecond) && dice.IntN(4) != 0 {
			from--
		}
		switch dice.IntN(3) {
		case 0:
			in.MaxLag = lag
		case 1:
			in.Level, in.Session = api.SessionLevel, fmt.Sprintf("s%d", dice.IntN(2))
			in.MinIndex = seen[in.Session]
		case 2:
			in.MinIndex = log[from].index
		}
		for log[from].index < in.MinIndex {
			from++
		}
		op.Name, op.Index, op.Node = model.Read, log[from].index, in.Node
		seen[in.Session] = max(seen[in.Session], op.Index)
		op.In, op.Out = body(t, in), body(t, model.ReadsOut{Value: log[from].value, Version: log[from].index * 7, Lag: lag})
		if from == 0 {
			op.Out = body(t, model.ReadsOut{Lag: -1})
		}
		ops = append(ops, op)
	}
	return ops
}

func readsVerdict(t testing.TB, ops []history.Op) check.Verdict {
	return check.Reads{}.Check(t.Context(), &check.Evidence{History: numbered(slices.Clone(ops))})
}

// Nodes that are behind, and say so, are in order.
func TestReadsAreValid(t *testing.T) {
	for seed := range uint64(30) {
		v := readsVerdict(t, readsRun(t, seed))
		require.Equal(t, check.Valid, v.Word, "seed %d: %+v", seed, v.Findings)
		require.NotZero(t, v.Figures["oldest answer ms"])
		require.NotZero(t, v.Figures["session reads"])
		require.NotZero(t, v.Figures["reads from an index"])
	}
	require.Equal(t, check.Unclear, readsVerdict(t, nil).Word)
}

// CL-4: one answer that is wrong is enough.
func TestReadsAreInvalid(t *testing.T) {
	cases := []struct {
		name  string
		which func(model.ReadsIn, model.ReadsOut, *history.Op) bool
		spoil func(t *testing.T, op *history.Op)
		says  string
	}{
		{"older than it says", func(_ model.ReadsIn, out model.ReadsOut, _ *history.Op) bool { return out.Version > 0 }, func(t *testing.T, op *history.Op) {
			change(t, &op.Out, func(o *model.ReadsOut) { o.Lag, o.Version, o.Value = 100, 70, 0 })
			op.Index = 10
			op.In = body(t, model.ReadsIn{Node: op.Node, Level: api.Stale})
		}, "ms before"},
		{"not found, and not caught up", func(in model.ReadsIn, out model.ReadsOut, _ *history.Op) bool {
			return in.MinIndex > 100 && out.Version > 0
		}, func(t *testing.T, op *history.Op) {
			op.Out = body(t, model.ReadsOut{Lag: -1})
		}, "does not find it"},
		{"not found at all, within a bound", func(in model.ReadsIn, out model.ReadsOut, _ *history.Op) bool {
			return in.MaxLag > 0 && out.Version > 0
		}, func(t *testing.T, op *history.Op) {
			op.Out, op.Index = body(t, model.ReadsOut{Lag: -1}), 1
		}, "ms before"},
		{"two contents at one index", func(_ model.ReadsIn, out model.ReadsOut, op *history.Op) bool { return out.Version == op.Index*7 }, func(t *testing.T, op *history.Op) {
			change(t, &op.Out, func(o *model.ReadsOut) { o.Version -= 3; o.Value = 555 })
		}, "has the versions"},
		{"two values of one version", func(_ model.ReadsIn, out model.ReadsOut, _ *history.Op) bool { return out.Version > 0 }, func(t *testing.T, op *history.Op) {
			change(t, &op.Out, func(o *model.ReadsOut) { o.Value += 5 })
		}, "has the values"},
		{"below the index", func(in model.ReadsIn, _ model.ReadsOut, _ *history.Op) bool { return in.MinIndex > 100 }, func(_ *testing.T, op *history.Op) {
			op.Index = 9
		}, "was asked for index"},
		{"a session goes back", func(in model.ReadsIn, _ model.ReadsOut, _ *history.Op) bool {
			return in.Session != "" && in.MinIndex > 100
		}, func(t *testing.T, op *history.Op) {
			change(t, &op.In, func(in *model.ReadsIn) { in.MinIndex = 0 })
			op.Index = 2
		}, "has seen index"},
		{"beyond the bound", func(in model.ReadsIn, _ model.ReadsOut, _ *history.Op) bool { return in.MaxLag > 0 }, func(t *testing.T, op *history.Op) {
			change(t, &op.Out, func(o *model.ReadsOut) { o.Lag += 5 })
		}, "a lag of at most"},
		{"somebody else", func(in model.ReadsIn, _ model.ReadsOut, _ *history.Op) bool { return in.Node == "n1" }, func(_ *testing.T, op *history.Op) {
			op.Node = "n2"
		}, "n2 answered"},
		{"as of nothing", func(model.ReadsIn, model.ReadsOut, *history.Op) bool { return true }, func(_ *testing.T, op *history.Op) {
			op.Index = 0
		}, "does not say"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ops := readsRun(t, 9)
			for at := len(ops) / 2; ; at++ {
				require.Less(t, at, len(ops)-5, "there is one to spoil")
				in, err := history.Decode[model.ReadsIn](ops[at].In)
				require.NoError(t, err)
				out, err := history.Decode[model.ReadsOut](ops[at].Out)
				require.NoError(t, err)
				if ops[at].Name == model.Read && c.which(in, out, &ops[at]) {
					c.spoil(t, &ops[at])
					break
				}
			}
			v := readsVerdict(t, ops)
			require.Equal(t, check.Invalid, v.Word)
			require.Contains(t, text(v), c.says)
		})
	}
}
