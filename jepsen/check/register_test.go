package check_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
)

// body is a body of an operation.
func body(t testing.TB, v any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return b
}

// numbered gives operations their numbers, in the order of their calls.
func numbered(ops []history.Op) *history.History {
	slices.SortStableFunc(ops, func(a, b history.Op) int { return int(a.Called - b.Called) })
	for i := range ops {
		ops[i].ID = uint64(i + 1)
		if ops[i].Process == 0 {
			ops[i].Process = i + 1
		}
	}
	return &history.History{Ops: ops}
}

// registerRun is a history of one register, as it would be recorded of one that is
// right: each operation takes effect at some moment between its call and its answer.
func registerRun(t testing.TB, seed uint64, n int) []history.Op {
	dice := rand.New(rand.NewPCG(seed, 1))
	var (
		ops  []history.Op
		held model.RegisterOut
		last model.RegisterOut // what was held before
	)
	for i := range n {
		at := int64(i+10) * 100
		op := history.Op{
			Workload: model.Register, Key: "1/0", Name: model.Read, Outcome: history.Ok,
			Called: at - dice.Int64N(300), Returned: at + dice.Int64N(300), Index: uint64(at),
		}
		in, out := model.RegisterIn{Value: int64(i + 1), Sent: model.Plainly}, model.RegisterOut{Version: uint64(at)}
		switch dice.IntN(8) {
		case 0, 1, 2:
			op.Out = body(t, held)
		case 3, 4, 5:
			op.Name, op.In, op.Out = model.Write, body(t, in), body(t, out)
			last, held = held, model.RegisterOut{Value: in.Value, Version: out.Version}
			if dice.IntN(4) == 0 { // nobody was told
				op.Outcome, op.Out = history.Unknown, nil
			}
		case 6:
			op.Name, in.From, in.Version = model.Swap, held.Value, held.Version
			op.In, op.Out = body(t, in), body(t, out)
			last, held = held, model.RegisterOut{Value: in.Value, Version: out.Version}
		case 7:
			if last.Version == held.Version {
				continue
			}
			op.Name, in.From, in.Version = model.Swap, last.Value, last.Version
			op.In, op.Outcome, op.Code = body(t, in), history.Failed, "VERSION_CONFLICT"
			op.Out = body(t, model.RegisterOut{Version: held.Version})
		}
		ops = append(ops, op)
	}
	return ops
}

func registerVerdict(t testing.TB, ops []history.Op) check.Verdict {
	t.Helper()
	dir := t.TempDir()
	v := check.Register{}.Check(t.Context(), &check.Evidence{History: numbered(slices.Clone(ops)), Dir: dir})
	for _, file := range v.Files {
		require.FileExists(t, filepath.Join(dir, file))
	}
	return v
}

// A register that is right is found to be, whatever overlaps.
func TestRegisterIsValid(t *testing.T) {
	for seed := range uint64(30) {
		v := registerVerdict(t, registerRun(t, seed, 300))
		require.Equal(t, check.Valid, v.Word, "seed %d: %+v", seed, v.Findings)
		require.Greater(t, v.Figures["operations"], int64(200))
		require.NotZero(t, v.Figures["conflicts"])
		require.NotZero(t, v.Figures["unknown"])
		require.Empty(t, v.Files)
	}
}

// change makes a body another.
func change[T any](t testing.TB, b *json.RawMessage, how func(*T)) {
	t.Helper()
	decoded, err := history.Decode[T](*b)
	require.NoError(t, err)
	how(&decoded)
	*b = body(t, decoded)
}

// One answer that is wrong is enough.
func TestRegisterIsInvalid(t *testing.T) {
	is := func(name string, outcome history.Outcome) func(*history.Op) bool {
		return func(op *history.Op) bool { return op.Name == name && op.Outcome == outcome }
	}
	cases := []struct {
		name  string
		which func(*history.Op) bool
		spoil func(t *testing.T, op *history.Op, all []history.Op)
		says  string
	}{
		{"a read of what was never written", is(model.Read, history.Ok), func(t *testing.T, op *history.Op, _ []history.Op) {
			change(t, &op.Out, func(o *model.RegisterOut) { o.Value, o.Version = 77777, o.Version+1 })
		}, "no order"},
		{"a read of the past", is(model.Read, history.Ok), func(t *testing.T, op *history.Op, all []history.Op) {
			for i := range all {
				if all[i].Name == model.Write && all[i].Outcome == history.Ok {
					value, err := history.Decode[model.RegisterIn](all[i].In)
					require.NoError(t, err)
					change(t, &all[i].Out, func(w *model.RegisterOut) {
						change(t, &op.Out, func(o *model.RegisterOut) { o.Value, o.Version = value.Value, w.Version })
					})
					return
				}
			}
		}, "no order"},
		{"a key that is gone", is(model.Read, history.Ok), func(t *testing.T, op *history.Op, _ []history.Op) {
			op.Out = body(t, model.RegisterOut{})
		}, "no order"},
		{"a write that was refused is seen", is(model.Write, history.Ok), func(_ *testing.T, op *history.Op, _ []history.Op) {
			op.Outcome, op.Code, op.Out = history.Failed, "NO_LEADER", nil
		}, "no order"},
		{"a write that was acknowledged is not there", is(model.Swap, history.Ok), func(t *testing.T, op *history.Op, all []history.Op) {
			op.Name = model.Write
			change(t, &op.In, func(in *model.RegisterIn) { in.Value += 100000 })
		}, "no order"},
		{"a swap of what was not there", is(model.Swap, history.Ok), func(t *testing.T, op *history.Op, _ []history.Op) {
			change(t, &op.In, func(in *model.RegisterIn) { in.From = 88888 })
		}, "no order"},
		{"a swap that was refused without reason", is(model.Swap, history.Failed), func(t *testing.T, op *history.Op, _ []history.Op) {
			change(t, &op.In, func(in *model.RegisterIn) {
				change(t, &op.Out, func(o *model.RegisterOut) { in.Version = o.Version })
			})
		}, "as expected"},
		{"a version of two values", is(model.Read, history.Ok), func(t *testing.T, op *history.Op, _ []history.Op) {
			change(t, &op.Out, func(o *model.RegisterOut) { o.Value++ })
		}, "has the values"},
		{"a value of two versions", is(model.Read, history.Ok), func(t *testing.T, op *history.Op, _ []history.Op) {
			change(t, &op.Out, func(o *model.RegisterOut) { o.Version++ })
		}, "has the versions"},
		{"a write whose version is below one that was seen", is(model.Write, history.Ok), func(t *testing.T, op *history.Op, _ []history.Op) {
			change(t, &op.Out, func(o *model.RegisterOut) { o.Version = 3 })
		}, "was seen before"},
		{"an answer that cannot be read", is(model.Read, history.Ok), func(_ *testing.T, op *history.Op, _ []history.Op) {
			op.Out = []byte(`{"value":"x"}`)
		}, "cannot be read"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			ops := registerRun(t, 5, 200)
			for at := len(ops) * 2 / 3; ; at++ {
				require.Less(t, at, len(ops)-5, "there is one to spoil")
				if c.which(&ops[at]) && string(ops[at].Out) != `{}` {
					c.spoil(t, &ops[at], ops)
					break
				}
			}
			v := registerVerdict(t, ops)
			require.Equal(t, check.Invalid, v.Word)
			require.Contains(t, text(v), c.says)
		})
	}
}

// text is all that was found.
func text(v check.Verdict) string {
	b, _ := json.Marshal(v.Findings)
	return string(b)
}

// An unknown write may happen late, or never, but not come and go.
func TestUnknownWrites(t *testing.T) {
	op := func(name string, from, until int64, outcome history.Outcome, in, out any) history.Op {
		o := history.Op{Workload: model.Register, Key: "k", Name: name, Called: from, Returned: until, Outcome: outcome}
		if in != nil {
			o.In = body(t, in)
		}
		if out != nil && outcome == history.Ok {
			o.Out = body(t, out)
		}
		return o
	}
	first := op(model.Write, 1, 2, history.Ok, model.RegisterIn{Value: 1}, model.RegisterOut{Version: 5})
	maybe := op(model.Write, 3, 4, history.Unknown, model.RegisterIn{Value: 2}, nil)
	old := op(model.Read, 10, 11, history.Ok, nil, model.RegisterOut{Value: 1, Version: 5})
	late := op(model.Read, 20, 21, history.Ok, nil, model.RegisterOut{Value: 2, Version: 9})
	gone := op(model.Read, 30, 31, history.Ok, nil, model.RegisterOut{Value: 1, Version: 5})
	require.Equal(t, check.Valid, registerVerdict(t, []history.Op{first, maybe, old}).Word)
	require.Equal(t, check.Valid, registerVerdict(t, []history.Op{first, maybe, old, late}).Word)
	require.Equal(t, check.Invalid, registerVerdict(t, []history.Op{first, maybe, late, gone}).Word)

	after := op(model.Read, 40, 41, history.Ok, nil, model.RegisterOut{Value: 1, Version: 5})
	refused := op(model.Swap, 30, 31, history.Failed, model.RegisterIn{Value: 3, From: 1, Version: 5}, nil)
	refused.Code = "VERSION_CONFLICT"
	require.Equal(t, check.Valid, registerVerdict(t, []history.Op{first, maybe, refused}).Word, "the unknown write may be why")
	require.Equal(t, check.Invalid, registerVerdict(t, []history.Op{first, refused}).Word, "there is no reason")
	require.Equal(t, check.Invalid, registerVerdict(t, []history.Op{first, maybe, refused, after}).Word)
	require.Equal(t, check.Unclear, registerVerdict(t, nil).Word, "nothing was looked at")
}

// A search that does not end shows nothing.
func TestRegisterSearchThatDoesNotEnd(t *testing.T) {
	var ops []history.Op
	for i := range int64(400) {
		ops = append(ops, history.Op{
			Workload: model.Register, Key: "k", Name: model.Write, Called: i, Returned: 5000 + i, Outcome: history.Ok,
			In: body(t, model.RegisterIn{Value: i + 1}), Out: body(t, model.RegisterOut{Version: uint64(i + 1)}),
		})
	}
	for i := range int64(20) {
		ops = append(ops, history.Op{
			Workload: model.Register, Key: "k", Name: model.Swap, Called: i, Returned: 6000 + i, Outcome: history.Failed, Code: "VERSION_CONFLICT",
			In: body(t, model.RegisterIn{Value: 1000 + i, From: 500, Version: 7000}),
		}, history.Op{
			Workload: model.Register, Key: "k", Name: model.Read, Called: 6100 + 2*i, Returned: 6101 + 2*i, Outcome: history.Ok,
			Out: body(t, model.RegisterOut{Value: 1 + i%2, Version: uint64(1 + i%2)}),
		})
	}
	v := check.Register{Within: 200 * time.Millisecond}.Check(t.Context(), &check.Evidence{History: numbered(ops), Dir: os.DevNull})
	require.NotEqual(t, check.Valid, v.Word)
	require.Contains(t, text(v), "did not end in 200ms")
}
