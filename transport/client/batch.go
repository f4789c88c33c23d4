package client

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/omnikernel/omnikernel/transport/api"
)

// Result is the answer to one command of a batch: Err is nil when it is done.
type Result struct {
	Done api.Done
	Err  error
}

// inFlightBatch is how many commands of a batch go in one request of a session:
// two such requests fit into its window.
const inFlightBatch = api.SessionWindow / 2

// Batch sends many commands, each as its own log entry with its own outcome,
// and answers one Result for each, in order. Commands come from api.NewCommand.
// Its own error is a *Usage: nothing was sent.
//
// Commands are proposed in order. After a failover in the middle, those without
// an outcome are sent again, so a later one may then be applied before an
// earlier one: let a batch hold what does not depend on its neighbours.
func (c *Client) Batch(ctx context.Context, commands []api.Command, opts ...Option) ([]Result, error) {
	s := settingsOf(opts)
	if s.key != "" {
		return nil, &Usage{"batch: a batch takes a session, not an idempotency key"}
	}
	if deadline := c.deadlineOf(ctx, &s); !deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
		s.timeout = 0
	}
	results := make([]Result, len(commands))
	step := inFlightBatch
	if s.plain {
		step = api.MaxBatchCommands
	}
	at := 0
	for chunk := range slices.Chunk(commands, step) {
		p := &part{client: c, settings: s, commands: chunk, results: results[at : at+len(chunk)]}
		p.run(ctx)
		at += len(chunk)
	}
	return results, nil
}

// part is what one request of a batch carries, as often as it takes.
type part struct {
	client   *Client
	settings settings
	commands []api.Command
	results  []Result
	open     []pendingCommand // in order
	session  string
}

// pendingCommand has no outcome yet.
type pendingCommand struct {
	at     int // in the part
	ticket ticket
	unsure bool // an attempt may have taken effect
}

func (p *part) run(ctx context.Context) {
	for i := range p.commands {
		p.open = append(p.open, pendingCommand{at: i})
	}
	if !p.settings.plain {
		if err := p.number(ctx); err != nil {
			p.fail(err)
			return
		}
	}
	for try := (&call{}); ; {
		expired, err := p.send(ctx)
		switch {
		case err != nil:
			p.fail(err)
		case expired:
			p.client.session.end(p.session)
			if err := p.number(ctx); err != nil {
				p.fail(err)
			}
		}
		if len(p.open) == 0 {
			return
		}
		if !try.pause(ctx) {
			p.outOfTime()
			return
		}
	}
}

// number gives every open command a sequence of the session that is open now.
func (p *part) number(ctx context.Context) error {
	t, err := p.client.ticket(ctx, "batch", uint64(len(p.open)))
	if err != nil {
		return err
	}
	p.session = t.id
	for i := range p.open {
		p.open[i].ticket = ticket{t.id, t.seq + uint64(i)}
	}
	return nil
}

// send sends what is open once, and keeps what got an outcome.
func (p *part) send(ctx context.Context) (expired bool, err error) {
	body, err := p.body()
	if err != nil {
		return false, err
	}
	var answer api.BatchDone
	k := &call{
		request:  request{op: "batch", method: http.MethodPost, path: p.client.prefix + "/batch", body: body},
		settings: p.settings, into: &answer, toLeader: true, changes: true, again: !p.settings.plain,
	}
	if !p.settings.plain {
		k.header = p.client.session.header(p.open[0].ticket, false)
	}
	err = k.run(ctx, p.client.family)
	if err == nil && len(answer.Results) != len(p.open) {
		err = &Unknown{Op: "batch", Attempts: k.attempts, Cause: &strangeAnswer{server: "the server", status: http.StatusOK}}
	}
	if err != nil {
		return false, err
	}
	sent := p.open
	p.open = nil
	for i := range sent {
		sent[i].unsure = sent[i].unsure || k.unsure
		expired = p.judge(sent[i], &answer.Results[i]) || expired
	}
	return expired, nil
}

// body writes an api.Batch of what is open, without reflection.
func (p *part) body() ([]byte, error) {
	size := 32
	for i := range p.open {
		size += len(p.commands[p.open[i].at].Body) + 64
	}
	b := append(make([]byte, 0, size), `{"commands":[`...)
	for i := range p.open {
		c := &p.commands[p.open[i].at]
		if !slices.Contains(api.Ops[:], c.Op) || !json.Valid(c.Body) {
			return nil, &Usage{"batch: a command that api.NewCommand did not make"}
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, `{"op":"`...), c.Op...), '"')
		if sequence := p.open[i].ticket.seq; sequence != 0 {
			b = strconv.AppendUint(append(b, `,"sequence":`...), sequence, 10)
		}
		b = append(append(append(b, `,"body":`...), c.Body...), '}')
	}
	return append(b, "]}"...), nil
}

// judge keeps a command's outcome, or leaves it open. It tells whether the
// session has expired.
func (p *part) judge(one pendingCommand, got *api.BatchResult) (expired bool) {
	if got.Done != nil {
		p.client.saw(got.Done.Index)
		p.settle(one, Result{Done: *got.Done})
		return false
	}
	e := got.Error
	if e == nil {
		p.settle(one, Result{Err: &Unknown{Op: string(p.commands[one.at].Op), Attempts: 1}})
		return false
	}
	info, _ := api.Lookup(e.Code)
	switch {
	case p.settings.plain:
	case e.Code == api.CodeSessionExpired && !one.unsure:
		p.open = append(p.open, one)
		return true
	case e.Code == api.CodeSessionExpired:
		p.settle(one, Result{Err: &Unknown{Op: string(p.commands[one.at].Op), Attempts: 1, Cause: e}})
		return true
	case !e.Definite, info.Retry && !e.Recorded():
		one.unsure = one.unsure || !e.Definite
		p.results[one.at].Err = e // unless a later attempt has more to say
		p.open = append(p.open, one)
		return false
	case one.unsure && !e.Recorded():
		// It speaks for this attempt, not for the one before.
		p.settle(one, Result{Err: &Unknown{Op: string(p.commands[one.at].Op), Attempts: 1, Cause: e}})
		return false
	}
	p.settle(one, Result{Err: e})
	return false
}

func (p *part) settle(one pendingCommand, r Result) {
	p.results[one.at] = r
	if !p.settings.plain {
		p.client.session.settle(one.ticket)
	}
}

// fail ends everything that is open with the same error.
func (p *part) fail(err error) {
	for _, one := range p.open {
		final := err
		if one.unsure && Definite(err) {
			final = &Unknown{Op: string(p.commands[one.at].Op), Attempts: 1, Cause: err}
		}
		p.settle(one, Result{Err: final})
	}
	p.open = nil
}

// outOfTime ends what is open as its last attempt left it.
func (p *part) outOfTime() {
	for _, one := range p.open {
		err := p.results[one.at].Err
		if one.unsure {
			err = &Unknown{Op: string(p.commands[one.at].Op), Attempts: 1, Cause: err}
		}
		p.settle(one, Result{Err: err})
	}
	p.open = nil
}
