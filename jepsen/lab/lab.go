package lab

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"sync"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/lab/netns"
	"github.com/omnikernel/omnikernel/jepsen/lab/wire"
	"github.com/omnikernel/omnikernel/transport/client"
)

// Lab is a cluster and its network.
type Lab struct {
	plan  Plan
	claim *claim
	wire  *wire.Switch
	nodes []*Node
	cards []card // this program's first

	mu       sync.Mutex // guards what follows
	deferred []func() error
	closed   bool
}

// Open makes a lab whose nodes are not started. It removes first what ended
// programs have left (Sweep).
func Open(ctx context.Context, plan Plan) (*Lab, error) {
	if err := plan.check(); err != nil {
		return nil, err
	}
	if err := netns.Usable(); err != nil {
		return nil, err
	}
	if err := plan.absolute(); err != nil {
		return nil, err
	}
	if plan.Life == nil {
		plan.Life = func(history.Life) {}
	}
	claim, err := newClaim(append([]string{plan.Dir}, plan.Data...))
	if err != nil {
		return nil, err
	}
	l := &Lab{plan: plan, claim: claim, cards: claim.Network.cards(plan.Nodes)}
	if err := l.build(ctx); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func newClaim(dirs []string) (c *claim, err error) {
	r, err := openRegistry()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.sweep(new(Swept)); err != nil {
		return nil, fmt.Errorf("what an earlier lab has left cannot be removed: %w", err)
	}
	return r.claim(dirs)
}

// build makes the network, and plans the nodes.
func (l *Lab) build(ctx context.Context) error {
	var hosts []wire.Host
	err := func() error {
		for _, c := range l.cards {
			if err := ctx.Err(); err != nil {
				return err
			}
			frames, err := l.plug(c)
			if err != nil {
				return fmt.Errorf("host %s: %w", c.id, err)
			}
			hosts = append(hosts, wire.Host{ID: c.id, MAC: c.mac, Frames: frames})
		}
		return nil
	}()
	if err == nil {
		l.wire, err = wire.New(l.plan.Seed, hosts)
	}
	if err != nil {
		for _, h := range hosts {
			err = errors.Join(err, h.Frames.Close())
		}
		return err
	}
	for i, c := range l.cards[1:] {
		n, err := newNode(l, i, c)
		if err != nil {
			return err
		}
		l.nodes = append(l.nodes, n)
	}
	return nil
}

// plug gives a host its network card, in a namespace of its own unless it is this
// program.
func (l *Lab) plug(c card) (*os.File, error) {
	i := netns.Interface{Name: "lab0", MAC: c.mac, Address: netip.PrefixFrom(c.address, l.claim.Network.prefix().Bits())}
	for _, other := range l.cards {
		if other.id != c.id {
			i.Neighbours = append(i.Neighbours, netns.Neighbour{Address: other.address, MAC: other.mac})
		}
	}
	namespace := ""
	if c.id == ClientHost {
		i.Name = l.claim.Name
	} else {
		namespace = l.claim.namespace(c.id)
		if err := netns.Add(namespace); err != nil {
			return nil, err
		}
	}
	return netns.Plug(namespace, i)
}

// Name is what all of the lab is called on this machine.
func (l *Lab) Name() string { return l.claim.Name }

// Wire is the network between the nodes, whose ids are its hosts', and ClientHost.
func (l *Lab) Wire() *wire.Switch { return l.wire }

// Address is where this program is in the lab's network.
func (l *Lab) Address() netip.Addr { return l.cards[0].address }

// Nodes are all nodes, n1 first.
func (l *Lab) Nodes() []*Node { return slices.Clone(l.nodes) }

// IDs of all nodes, n1 first.
func (l *Lab) IDs() (ids []string) {
	for _, n := range l.nodes {
		ids = append(ids, n.ID())
	}
	return ids
}

// Node is the node with an id, or nil.
func (l *Lab) Node(id string) *Node {
	for _, n := range l.nodes {
		if n.id == id {
			return n
		}
	}
	return nil
}

// URLs of all nodes' APIs, n1's first.
func (l *Lab) URLs() (urls []string) {
	for _, n := range l.nodes {
		urls = append(urls, n.API())
	}
	return urls
}

// Client makes a client that knows all nodes.
func (l *Lab) Client(options client.Options) (*client.Client, error) {
	return client.New(l.URLs(), options)
}

// Start starts all nodes that are down, and waits until every node is ready.
func (l *Lab) Start(ctx context.Context) error {
	for _, n := range l.nodes {
		if err := n.Start(); err != nil && !errors.Is(err, ErrUp) {
			return err
		}
	}
	for _, n := range l.nodes {
		if err := n.Ready(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Defer makes Close call f when no node runs any more, the last one first: what
// unmounts a disk, for example.
func (l *Lab) Defer(f func() error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deferred = append(l.deferred, f)
}

// Close kills all nodes, calls what was deferred, and removes the network. What
// should not have been there any more, such as a disk that is still mounted, it
// removes too, and says so. A second time it does nothing.
func (l *Lab) Close() error {
	l.mu.Lock()
	closed, deferred := l.closed, l.deferred
	l.closed = true
	l.mu.Unlock()
	if closed {
		return nil
	}
	var errs []error
	for _, n := range l.nodes {
		errs = append(errs, n.close())
	}
	for _, f := range slices.Backward(deferred) {
		errs = append(errs, f())
	}
	if l.wire != nil {
		errs = append(errs, l.wire.Close())
	}
	return errors.Join(append(errs, l.remove())...)
}

// remove removes what the lab has of the machine.
func (l *Lab) remove() error {
	r, err := openRegistry()
	if err != nil {
		return err
	}
	var left Swept
	if err = l.claim.clean(&left); err == nil {
		err = l.claim.forget()
	}
	if len(left.Processes)+len(left.Mounts)+len(left.Loops) > 0 {
		err = errors.Join(err, fmt.Errorf("lab %s: there were still processes %v, mounts %v and loop devices %v; they are removed",
			l.claim.Name, left.Processes, left.Mounts, left.Loops))
	}
	return errors.Join(err, r.close())
}
