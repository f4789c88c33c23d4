package client

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/omnikernel/omnikernel/transport/api"
)

// call is a request until it is settled, or its time is over.
type call struct {
	request
	settings
	into any

	again    bool // an unknown attempt may be followed by another
	toLeader bool
	changes  bool          // a command: an unknown outcome matters
	waits    time.Duration // how long the server may take beside what an answer takes
	final    bool          // a definite answer is the last one, also where a later attempt might have another

	// expired gives a request to go on with when the session is not known any
	// more; nil ends the call.
	expired func(ctx context.Context) (*request, error)

	attempts int
	unsure   bool  // an attempt may have taken effect
	cause    error // why the last attempt has no answer
	said     *api.Error
	delays   *backoff.ExponentialBackOff
	tried    int // servers in a row that had no use
	hops     int // hints in a row that were followed
	behind   int // servers that do not have the history
	held     int // servers in a row that are in safe mode
	distrust int // servers in a row that are not trusted, or do not trust this client
}

// run sends the request until there is an answer (CL-1, CL-2). It leaves the
// last attempt's answer in into.
func (c *call) run(ctx context.Context, f *family) error {
	if deadline := f.deadlineOf(ctx, &c.settings); !deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
	}
	to, err := f.choose(ctx, &c.settings, c.toLeader)
	if err != nil {
		return err
	}
	for {
		settled, err := c.once(ctx, f, to)
		if settled {
			return err
		}
		next, wait := c.next(f, to)
		if ctx.Err() != nil || (wait && !c.pause(ctx)) {
			return c.givenUp(ctx, f)
		}
		to = next
	}
}

// once makes one attempt, and tells whether that was the last one.
func (c *call) once(ctx context.Context, f *family, to *server) (settled bool, err error) {
	c.attempts++
	attempt, cancel := context.WithTimeout(ctx, f.options.Attempt+c.waits)
	sent, err := f.ask(attempt, to, &c.request, c.into)
	cancel()
	if err == nil {
		if c.changes {
			f.servers.answered(to)
		}
		return true, nil
	}
	var said *api.Error
	if errors.As(err, &said) {
		c.said, c.distrust = said, 0
		return c.answered(ctx, f)
	}
	if isDistrusted(err) {
		return c.distrusted(f, err)
	}
	c.distrust = 0
	if ctx.Err() == nil { // else the call's own end cut the attempt short
		c.said, c.cause = nil, err
	}
	if sent && c.changes {
		c.unsure = true
		return !c.again, c.unknown()
	}
	return false, nil
}

// answered judges what a server said.
func (c *call) answered(ctx context.Context, f *family) (settled bool, err error) {
	e := c.said
	c.cause = e
	info, _ := api.Lookup(e.Code)
	if e.Code == api.CodeSafeMode {
		return c.refusedInSafeMode(f)
	}
	c.held = 0
	switch {
	case e.Code == api.CodeSessionExpired && c.expired != nil:
		return c.renew(ctx)
	case !e.Definite && c.changes:
		c.unsure = true
		return !c.again, e
	case e.Code == api.CodeHistoryBehind:
		// Nodes get their history back, but not while one waits.
		c.behind++
		settled = c.node != "" || c.behind >= f.servers.count()
		if c.unsure {
			return settled, c.unknown()
		}
		return settled, e
	case e.Recorded() && c.changes, (c.final || !info.Retry) && e.Definite:
		// The kernel judged it, or nobody would say otherwise. An attempt
		// before this one that may have taken effect is this same command: in
		// a session its answer would have come again.
		if c.unsure && !e.Recorded() {
			return true, c.unknown()
		}
		return true, e
	}
	return false, nil
}

// refusedInSafeMode goes on to the next server: this one waits for people. When
// all do, there is nobody to wait for.
func (c *call) refusedInSafeMode(f *family) (settled bool, err error) {
	c.held++
	if c.node == "" && c.held < f.servers.count() {
		return false, nil
	}
	if c.unsure {
		return true, c.unknown()
	}
	return true, c.said
}

// distrusted goes on to the next server: certificates are not mended by waiting. When
// it is the same with all of them, that is the answer.
func (c *call) distrusted(f *family, err error) (settled bool, _ error) {
	c.said, c.cause = nil, err
	c.distrust++
	if c.node == "" && c.distrust < f.servers.count() {
		return false, nil
	}
	if c.unsure {
		return true, c.unknown()
	}
	return true, c.unreachable(f)
}

// renew goes on in a fresh session, unless an earlier attempt may have taken
// effect in the one that is gone: then nobody can tell any more.
func (c *call) renew(ctx context.Context) (settled bool, err error) {
	fresh, err := c.expired(ctx)
	switch {
	case c.unsure:
		return true, c.unknown()
	case err != nil:
		return true, err
	}
	c.request = *fresh
	return false, nil
}

// next chooses whom to ask, and whether to wait before.
func (c *call) next(f *family, failed *server) (to *server, wait bool) {
	if c.node != "" {
		return failed, true
	}
	if c.said != nil && c.said.Code == api.CodeRateLimited && c.toLeader {
		return failed, true // the leader would say so again at the next one's word
	}
	if c.said != nil && c.said.Leader != nil && c.toLeader && c.hops < 3 {
		if leader := f.servers.leads(c.said.Leader.API); leader != nil && leader != failed {
			c.hops++
			f.servers.learn(c.said.Leader.ID, leader.name)
			return leader, false
		}
	}
	if c.said == nil {
		c.held = 0
	}
	c.hops = 0
	c.tried++
	// A node that could not be reached, or is in safe mode, says nothing of the
	// next one; any other answer speaks for the cluster.
	wait = c.said != nil && c.held == 0 || c.tried%f.servers.count() == 0
	return f.servers.after(failed), wait
}

// pause waits a little longer each time; false when the call's time is over, or
// would hardly be long enough for another attempt: a command that is cut short
// in the middle is unknown, where the last answer was definite.
func (c *call) pause(ctx context.Context) bool {
	if c.delays == nil {
		c.delays = backoff.NewExponentialBackOff()
		c.delays.InitialInterval = 4 * time.Millisecond
		c.delays.Multiplier = 1.6
		c.delays.MaxInterval = 250 * time.Millisecond
	}
	delay := c.delays.NextBackOff()
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < 2*delay {
		return false
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (c *call) unknown() error {
	return &Unknown{Op: c.op, Attempts: c.attempts, Cause: c.cause}
}

// givenUp says how things stand when the time is over.
func (c *call) givenUp(ctx context.Context, f *family) error {
	switch {
	case c.unsure:
		return c.unknown()
	case c.said != nil:
		return c.said
	}
	if c.cause == nil {
		c.cause = context.Cause(ctx)
	}
	return c.unreachable(f)
}

func (c *call) unreachable(f *family) error {
	names := f.servers.names()
	if c.node != "" {
		names = []string{c.node}
	}
	return &Unreachable{Op: c.op, Servers: names, Cause: c.cause}
}
