package traffic

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

const (
	registers   = 24  // keys in use at a time
	contended   = 3   // half of the operations are on the first of them
	perRegister = 800 // operations on a key, then another takes its place: the search for an order takes at most 1,000
)

// Register reads, writes, and compares and sets keys of shared memory. A third of
// its workers write in a session, a third with idempotency keys, and a third once.
type Register struct {
	values atomic.Int64
	used   [registers]atomic.Int64 // operations so far, by place
}

// Name implements Workload.
func (*Register) Name() string { return model.Register }

// Setup implements Workload: a key is made by its first write.
func (*Register) Setup(context.Context, *Env) error { return nil }

// key takes n operations of the key that stands at a place.
func (r *Register) key(place int, n int64) string {
	return registerKey(place, (r.used[place].Add(n)-n)/perRegister)
}

func registerKey(place int, turn int64) string { return fmt.Sprintf("%d/%d", place, turn) }

// Work implements Workload.
func (r *Register) Work(ctx context.Context, w *Worker) {
	place := w.Dice.IntN(registers)
	if w.Dice.IntN(2) == 0 {
		place = w.Dice.IntN(contended)
	}
	switch n := w.Dice.IntN(10); {
	case n < 4:
		r.read(ctx, w, r.key(place, 1))
	case n < 7:
		r.write(ctx, w, model.Write, r.key(place, 1), model.RegisterIn{}, nil)
	default:
		key := r.key(place, 2)
		if found, ok := r.read(ctx, w, key); ok {
			in := model.RegisterIn{From: found.Value, Version: found.Version}
			r.write(ctx, w, model.Swap, key, in, &in.Version)
		}
	}
}

func (*Register) read(ctx context.Context, w *Worker, key string) (model.RegisterOut, bool) {
	ctx, cancel := w.Within(ctx)
	defer cancel()
	call := w.Call(model.Read, key, nil)
	got, err := w.Client.SharedValue(ctx, model.Register, key)
	var said *api.Error
	if errors.As(err, &said) && said.Code == "NOT_FOUND" {
		got.As, err = api.As{Index: said.Index, Node: said.Node}, nil
	}
	out := model.RegisterOut{Version: got.Version}
	if err == nil && got.Version != 0 {
		var isInt bool
		if out.Value, isInt = got.Value.Int(); !isInt {
			out.Value = -1 // nobody wrote that
		}
	}
	call.From(got.Node, got.Index, 0)
	return out, w.SettleRead(call, err, out) == history.Ok
}

func (r *Register) write(ctx context.Context, w *Worker, name, key string, in model.RegisterIn, version *uint64) {
	ctx, cancel := w.Within(ctx)
	defer cancel()
	in.Value = r.values.Add(1)
	var opts []client.Option
	switch w.Number % 3 {
	case 0:
		in.Sent = model.InSession
	case 1:
		in.Sent, opts = model.Plainly, []client.Option{client.NoSession()}
	case 2:
		in.Sent, opts = model.WithKey, []client.Option{client.IdempotencyKey(fmt.Sprintf("register-%d", in.Value))}
	}
	put := event.PutShared{Namespace: model.Register, Key: key, Value: value.AppendInt(nil, in.Value), Version: version}
	call := w.Call(name, key, in).Sends(event.SharedPut.String(), put)
	done, err := w.Client.PutShared(ctx, put, opts...)
	var said *api.Error
	if errors.As(err, &said) && said.Code == "VERSION_CONFLICT" && client.Definite(err) {
		call.From(said.Node, said.Index, 0).Fail(said.Code, said.Message, heldVersion(said))
		return
	}
	call.From(done.Node, done.Index, done.BusSeq)
	w.Settle(call, err, model.RegisterOut{Version: done.Version})
}

// heldVersion reads which version a Swap found: nil when the answer does not say.
func heldVersion(said *api.Error) any {
	words := strings.Fields(said.Rule)
	if len(words) == 0 {
		return nil
	}
	version, err := strconv.ParseUint(words[len(words)-1], 10, 64)
	if err != nil {
		return nil
	}
	return model.RegisterOut{Version: version}
}

// Finish reads every key once more.
func (r *Register) Finish(ctx context.Context, e *Env) error {
	w := e.worker(Load{Workload: r, Workers: 1}, 0)
	for place := range registers {
		for turn := int64(0); turn*perRegister < r.used[place].Load(); turn++ {
			key := registerKey(place, turn)
			if _, ok := r.read(ctx, w, key); !ok {
				return fmt.Errorf("register: the key %s cannot be read in the end", key)
			}
		}
	}
	return nil
}
