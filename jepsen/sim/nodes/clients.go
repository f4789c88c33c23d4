package nodes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// OpKind is what a client wanted.
type OpKind uint8

// The kinds of operations.
const (
	Read OpKind = iota + 1
	Write
	Swap // write, if the register still holds From
)

// Verdict is what a client was told.
type Verdict uint8

// The verdicts.
const (
	Unknown  Verdict = iota // it may have happened, or may yet
	Done                    // it has happened
	Conflict                // a Swap: the register held something else
	Refused                 // it has not happened and will not
)

// Op is one operation of a client on a register. Values are unique; 0 is a
// register that was never written.
type Op struct {
	Client       int
	Kind         OpKind
	Key          string
	From, Value  int64
	Verdict      Verdict
	Code         string
	Called, Told int64 // places in the one order of calls and answers
}

// Errand is an agent that calls the tool, and whether somebody took its right.
type Errand struct {
	ID      string
	Started bool // the answer was that it has begun
}

const (
	namespace  = "sim"
	sessioned  = 2 // the first so many clients repeat a command until it is answered
	clientsNow = 5
	patience   = 1500 * time.Millisecond
)

// clients are what works on the cluster, each one thing at a time.
type clients struct {
	running sync.WaitGroup
	order   atomic.Int64
	values  atomic.Int64

	mu   sync.Mutex // guards what follows
	ops  []Op
	sent []Errand
}

func (c *clients) start(ctx context.Context, r *run) {
	for i := range clientsNow {
		w := &client{run: r, no: i, dice: newDice(r.options.Seed, fmt.Sprint("client ", i))}
		c.running.Go(func() { w.work(ctx) })
	}
}

func (c *clients) wait() { c.running.Wait() }

func (c *clients) done() []Op {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.ops)
}

func (c *clients) errands() []Errand {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.sent)
}

// client is one of them.
type client struct {
	run     *run
	no      int
	dice    *dice
	session event.Session
}

func (c *client) work(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		key := [...]string{"a", "b"}[c.dice.intN(2)]
		switch c.dice.intN(10) {
		case 0, 1, 2:
			c.read(ctx, key)
		case 3, 4, 5, 6:
			c.write(ctx, Op{Kind: Write, Key: key}, nil)
		case 7, 8:
			c.swap(ctx, key)
		case 9:
			c.errand(ctx, n)
		}
		time.Sleep(time.Duration(1+c.dice.intN(30)) * time.Millisecond)
	}
}

// node is mostly the one that some node takes for the leader, else any; nil when
// it is down.
func (c *client) node() *cluster.Node {
	asked := c.run.members[c.dice.intN(len(c.run.members))].node()
	if asked == nil || c.dice.intN(4) == 0 {
		return asked
	}
	leader, known := asked.Leader()
	for _, m := range c.run.members {
		if known && m.self.ID == leader.ID {
			return m.node()
		}
	}
	return asked
}

func (c *client) begin(op *Op) {
	op.Client, op.Called = c.no, c.run.clients.order.Add(1)
}

func (c *client) end(op *Op) {
	all := &c.run.clients
	op.Told = all.order.Add(1)
	all.mu.Lock()
	defer all.mu.Unlock()
	all.ops = append(all.ops, *op)
}

// read reads a register; what could not be read leaves no trace.
func (c *client) read(ctx context.Context, key string) (found int64, version uint64, ok bool) {
	node := c.node()
	if node == nil {
		return 0, 0, false
	}
	op := Op{Kind: Read, Key: key, Verdict: Done}
	c.begin(&op)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	view, err := node.Read(ctx, cluster.Consistency{Level: cluster.Linearizable})
	if err != nil {
		return 0, 0, false
	}
	if entry := view.Memory.GetShared(namespace, key); entry != nil {
		op.Value, _ = entry.Value.Int()
		version = entry.Version
	}
	c.end(&op)
	return op.Value, version, true
}

func (c *client) swap(ctx context.Context, key string) {
	from, version, ok := c.read(ctx, key)
	if ok {
		c.write(ctx, Op{Kind: Swap, Key: key, From: from}, &version)
	}
}

// write proposes one, in a session until it is answered, or once.
func (c *client) write(ctx context.Context, op Op, version *uint64) {
	op.Value = c.run.clients.values.Add(1)
	e := event.Event{
		Kind: event.SharedPut, Principal: "client",
		Body: event.Encode(event.PutShared{Namespace: namespace, Key: op.Key, Value: value.AppendInt(nil, op.Value), Version: version}),
	}
	c.begin(&op)
	answer := c.send(ctx, e)
	op.Code = answer.Code
	switch {
	case answer.Verdict == cluster.Refused:
		op.Verdict = Refused
	case answer.Verdict == cluster.Unknown:
		op.Verdict = Unknown
	case answer.Outcome.Done():
		op.Verdict = Done
	case answer.Outcome.Refusal.Code == failure.VersionConflict:
		op.Verdict = Conflict
	default:
		op.Verdict, op.Code = Refused, string(answer.Outcome.Refusal.Code)
	}
	c.end(&op)
}

// send proposes a command. Who has a session sends it again until it is answered
// or the run is over, always as the same one (CL-3).
func (c *client) send(ctx context.Context, e event.Event) cluster.Answer {
	if c.no < sessioned {
		return c.sendInSession(ctx, e)
	}
	node := c.node()
	if node == nil {
		return cluster.Answer{Verdict: cluster.Refused, Code: "DOWN"}
	}
	return c.propose(node, e)
}

func (c *client) propose(node *cluster.Node, e event.Event) cluster.Answer {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return node.Propose(ctx, e)
}

func (c *client) sendInSession(ctx context.Context, e event.Event) cluster.Answer {
	last, maybe := cluster.Answer{Verdict: cluster.Refused, Code: "DOWN"}, false
	for ; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		node := c.node()
		if node == nil {
			continue
		}
		if !c.session.Present() {
			c.session = event.Session{ID: node.MintSession(), Seq: 1}
			c.session.Floor = 1
		}
		e.Session = c.session
		last = c.propose(node, e)
		switch last.Verdict {
		case cluster.Applied:
			c.session.Seq++
			c.session.Floor = c.session.Seq
			if code := last.Outcome.Refusal.Code; code == failure.SessionExpired || code == failure.SessionsFull {
				c.session = event.Session{}
				if maybe {
					return cluster.Answer{Verdict: cluster.Unknown, Code: string(code)}
				}
			}
			return last
		case cluster.Unknown:
			maybe = true
		}
	}
	if maybe {
		last.Verdict = cluster.Unknown
	}
	c.session = event.Session{} // what is open stays open: another session goes on
	return last
}

// errand starts an agent that calls the tool, and takes its right away meanwhile,
// now and then (TO-5).
func (c *client) errand(ctx context.Context, n int) {
	id := fmt.Sprintf("018f4e5c-0000-7000-8000-%06d%06d", c.no, n)
	program, problem := value.FromJSON([]byte(`{"kind":"CALL","payload":{"tool":"http.request","timeout_ms":4000,"args":{"method":"POST","url":"http://world.test/order"}}}`), 1<<10)
	if problem != nil {
		c.run.must(errors.New(problem.String()))
		return
	}
	answer := c.send(ctx, event.Event{Kind: event.AgentStart, Principal: "client", Body: event.Encode(event.Start{Define: event.Define{
		ID: id, Mode: "task", Program: program,
		Grants: []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "**"}},
	}})})
	if c.dice.intN(3) == 0 {
		kind, body := event.TokenRevoke, any(event.RevokeToken{Agent: id})
		if c.dice.intN(2) == 0 {
			kind, body = event.GrantRevoke, event.RevokeGrant{Agent: id}
		}
		c.send(ctx, event.Event{Kind: kind, Principal: "client", Body: event.Encode(body)})
	}
	all := &c.run.clients
	all.mu.Lock()
	defer all.mu.Unlock()
	all.sent = append(all.sent, Errand{ID: id, Started: answer.Verdict == cluster.Applied && answer.Outcome.Done()})
}
