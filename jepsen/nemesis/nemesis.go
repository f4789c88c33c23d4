package nemesis

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/lab/wire"
	"github.com/omnikernel/omnikernel/jepsen/scenarios"
)

// Nemesis makes faults. Its methods are used by one goroutine; Disturbed by any.
type Nemesis struct {
	Means
	dice  *rand.Rand
	kinds map[string]kind

	mu     sync.Mutex // guards active
	active []*Injected
}

// Injected is a fault that is there.
type Injected struct {
	scenarios.Fault
	Nodes []*Node

	kind    kind
	detail  map[string]any
	record  *history.Fault
	imposed *wire.Imposition // on the network
}

// New is a nemesis without a fault.
func New(m Means) *Nemesis {
	return &Nemesis{Means: m, dice: rand.New(rand.NewPCG(m.Seed, 0x6e656d65736973)), kinds: table()}
}

// ErrNoTarget says that there is no node for a fault at the moment: it is claimed
// by others, or nobody leads.
var ErrNoTarget = errors.New("there is no node for it now")

// Inject makes a fault. An error other than ErrNoTarget ends a run.
func (n *Nemesis) Inject(ctx context.Context, f *scenarios.Fault) (*Injected, error) {
	k := n.kinds[f.Kind]
	targets, err := n.targets(f, k)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Kind, err)
	}
	in := &Injected{Fault: *f, Nodes: targets, kind: k, detail: make(map[string]any)}
	if k.ends {
		in.detail["ends"] = true // a process that ends by itself is explained by it
	}
	n.mu.Lock()
	n.active = append(n.active, in)
	n.mu.Unlock()
	in.record = n.Record.Inject(f.Kind, ids(targets), in.detail)
	err = k.inject(ctx, n, in)
	n.Record.Injected(in.record, err)
	if err != nil {
		return in, fmt.Errorf("%s of %s: %w", f.Kind, strings.Join(ids(targets), ","), err)
	}
	return in, nil
}

// Heal takes a fault back.
func (n *Nemesis) Heal(ctx context.Context, in *Injected) error {
	n.mu.Lock()
	at := slices.Index(n.active, in)
	if at >= 0 {
		n.active = slices.Delete(n.active, at, at+1)
	}
	n.mu.Unlock()
	if at < 0 {
		return nil
	}
	err := in.kind.heal(ctx, n, in)
	n.Record.Healed(in.record, err)
	if err != nil {
		return fmt.Errorf("heal %s of %s: %w", in.Kind, strings.Join(ids(in.Nodes), ","), err)
	}
	return nil
}

// HealAll takes back everything, the newest first.
func (n *Nemesis) HealAll(ctx context.Context) error {
	var failed []error
	for {
		n.mu.Lock()
		var in *Injected
		if len(n.active) > 0 {
			in = n.active[len(n.active)-1]
		}
		n.mu.Unlock()
		if in == nil {
			return errors.Join(failed...)
		}
		failed = append(failed, n.Heal(ctx, in))
	}
}

// Disturbed tells whether a fault is on a node at the moment.
func (n *Nemesis) Disturbed(node string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.ContainsFunc(n.active, func(in *Injected) bool { return slices.Contains(ids(in.Nodes), node) })
}

func ids(nodes []*Node) []string {
	list := make([]string, len(nodes))
	for i, node := range nodes {
		list[i] = node.ID
	}
	return list
}

func words(list string) []string { return strings.Fields(list) }
