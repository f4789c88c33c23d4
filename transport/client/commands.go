package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Define makes an agent, DEFINED.
func (c *Client) Define(ctx context.Context, cmd event.Define, opts ...Option) (api.Done, error) {
	return c.command(ctx, "define", "/agents", cmd, opts)
}

// Start defines, spawns and activates an agent: all of it or nothing.
func (c *Client) Start(ctx context.Context, cmd event.Start, opts ...Option) (api.Done, error) {
	return c.command(ctx, "start", "/agents/start", cmd, opts)
}

// Trigger causes one transition of an agent.
func (c *Client) Trigger(ctx context.Context, cmd event.Trigger, opts ...Option) (api.Done, error) {
	if cmd.Agent == "" || cmd.Trigger == "" {
		return api.Done{}, &Usage{"trigger: an agent and a trigger are needed"}
	}
	path := "/agents/" + url.PathEscape(cmd.Agent) + "/triggers/" + url.PathEscape(cmd.Trigger)
	return c.command(ctx, cmd.Trigger, path, api.TriggerBody{Reason: cmd.Reason, Input: cmd.Input, Force: cmd.Force}, opts)
}

// Kill ends an agent whatever it is doing.
func (c *Client) Kill(ctx context.Context, cmd event.Kill, opts ...Option) (api.Done, error) {
	if cmd.Agent == "" {
		return api.Done{}, &Usage{"kill: an agent is needed"}
	}
	return c.command(ctx, "kill", "/agents/"+url.PathEscape(cmd.Agent)+"/kill", api.KillBody{Reason: cmd.Reason}, opts)
}

// Submit adds an instruction to an agent's queue.
func (c *Client) Submit(ctx context.Context, cmd event.Submit, opts ...Option) (api.Done, error) {
	if cmd.Agent == "" {
		return api.Done{}, &Usage{"submit: an agent is needed"}
	}
	path := "/agents/" + url.PathEscape(cmd.Agent) + "/instructions"
	return c.command(ctx, "submit", path, api.SubmitBody{Program: cmd.Program, Input: cmd.Input}, opts)
}

// ForkAgent makes a new agent that starts from a recorded point of an agent's history.
func (c *Client) ForkAgent(ctx context.Context, agent string, cmd api.ForkBody, opts ...Option) (api.Done, error) {
	if agent == "" || cmd.At == 0 {
		return api.Done{}, &Usage{"fork: an agent and a point in its history are needed"}
	}
	return c.command(ctx, "fork", "/agents/"+url.PathEscape(agent)+"/fork", cmd, opts)
}

// command sends one command until its outcome is known.
func (c *Client) command(ctx context.Context, op, path string, body any, opts []Option) (api.Done, error) {
	var done api.Done
	encoded, err := json.Marshal(body)
	if err != nil {
		return done, &Usage{op + ": " + err.Error()}
	}
	s := settingsOf(opts)
	k := &call{
		request:  request{op: op, method: http.MethodPost, path: c.prefix + path, body: encoded},
		settings: s, into: &done, toLeader: true, changes: true,
	}
	switch {
	case s.key != "":
		k.again = true
		// In small letters, which mean the same to every server: with the name as it is
		// known, the transport sends the request again by itself when its connection ends
		// with it, and nobody learns that it was sent before.
		k.header = func(h http.Header) { h[strings.ToLower(api.HeaderKey)] = []string{s.key} }
		err = k.run(ctx, c.family)
	case s.plain:
		err = k.run(ctx, c.family)
	default:
		err = c.inSession(ctx, k, 1, func(k *call, t ticket) {
			k.header = c.session.header(t, true)
		})
	}
	if err != nil {
		var said *api.Error
		if errors.As(err, &said) {
			c.saw(said.Index)
		}
		return api.Done{}, err
	}
	c.saw(done.Index)
	return done, nil
}

// header writes a ticket's headers, with the floor as it is at each attempt.
func (s *session) header(t ticket, sequence bool) func(http.Header) {
	return func(h http.Header) {
		h[api.HeaderSession] = []string{t.id}
		h[api.HeaderFloor] = []string{strconv.FormatUint(s.floorOf(t), 10)}
		if sequence {
			h[api.HeaderSequence] = []string{strconv.FormatUint(t.seq, 10)}
		}
	}
}

// inSession runs a call of n commands in the client's session. number puts the
// sequences, from the ticket's on, into the call's request.
func (c *Client) inSession(ctx context.Context, k *call, n uint64, number func(*call, ticket)) error {
	if deadline := c.deadlineOf(ctx, &k.settings); !deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline)
		defer cancel()
		k.timeout = 0
	}
	t, err := c.ticket(ctx, k.op, n)
	if err != nil {
		return err
	}
	number(k, t)
	k.again = true
	k.expired = func(ctx context.Context) (*request, error) {
		c.session.end(t.id)
		if k.unsure {
			return nil, nil
		}
		if t, err = c.ticket(ctx, k.op, n); err != nil {
			return nil, err
		}
		number(k, t)
		return &k.request, nil
	}
	err = k.run(ctx, c.family)
	for i := range n {
		c.session.settle(ticket{t.id, t.seq + i})
	}
	return err
}

// ticket takes n sequences, in a session that is opened if need be.
func (c *Client) ticket(ctx context.Context, op string, n uint64) (ticket, error) {
	for {
		t, ok, err := c.session.take(ctx, n)
		switch {
		case err != nil:
			return t, &Unreachable{Op: op, Servers: c.Servers(), Cause: err}
		case ok:
			return t, nil
		}
		if err := c.open(ctx); err != nil {
			return t, err
		}
	}
}

// open asks any node for a session id; it costs no log entry.
func (c *Client) open(ctx context.Context) error {
	c.session.opening.Lock()
	defer c.session.opening.Unlock()
	if c.session.isOpen() {
		return nil
	}
	var minted api.Session
	k := &call{
		request: request{op: "open a session", method: http.MethodPost, path: c.prefix + "/sessions"},
		into:    &minted, again: true, toLeader: true,
	}
	if err := k.run(ctx, c.family); err != nil {
		return err
	}
	c.session.begin(minted.Session)
	return nil
}
