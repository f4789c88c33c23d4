package client

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/api/logproof"
)

// Agent reads one agent.
func (c *Client) Agent(ctx context.Context, id string, opts ...Option) (api.Agent, error) {
	if id == "" {
		return api.Agent{}, &Usage{"get: an agent is needed"}
	}
	var agent api.Agent
	err := c.read(ctx, "get", "/agents/"+url.PathEscape(id), url.Values{}, settingsOf(opts), &agent)
	return agent, err
}

// Prove asks for a proof that a record is in the log, and checks it. A record is
// covered by the first Checkpoint after it: until then this waits.
func (c *Client) Prove(ctx context.Context, seq uint64, opts ...Option) (*logproof.Proof, error) {
	proof := new(logproof.Proof)
	query := url.Values{"seq": {strconv.FormatUint(seq, 10)}}
	if err := c.read(ctx, "prove", "/log/proof", query, settingsOf(opts), proof); err != nil {
		return nil, err
	}
	_, err := logproof.Check(proof)
	return proof, err
}

// Agents reads one page of a list.
func (c *Client) Agents(ctx context.Context, q api.AgentQuery, opts ...Option) (api.AgentPage, error) {
	query := url.Values{}
	if q.State != "" {
		query.Set("state", q.State)
	}
	for key, value := range q.Labels {
		query.Add("label", key+"="+value)
	}
	if q.After != "" {
		query.Set("after", q.After)
	}
	limited(query, q.Limit)
	var page api.AgentPage
	err := c.read(ctx, "list", "/agents", query, settingsOf(opts), &page)
	return page, err
}

// AllAgents reads a list to its end. It stops at the first error.
func (c *Client) AllAgents(ctx context.Context, q api.AgentQuery, opts ...Option) iter.Seq2[api.AgentSummary, error] {
	return func(yield func(api.AgentSummary, error) bool) {
		for {
			page, err := c.Agents(ctx, q, opts...)
			if err != nil {
				yield(api.AgentSummary{}, err)
				return
			}
			for _, agent := range page.Agents {
				if !yield(agent, nil) {
					return
				}
			}
			if q.After = page.Next; q.After == "" {
				return
			}
		}
	}
}

// History reads one page of an agent's transitions, oldest first.
func (c *Client) History(ctx context.Context, id string, q api.HistoryQuery, opts ...Option) (api.HistoryPage, error) {
	if id == "" {
		return api.HistoryPage{}, &Usage{"history: an agent is needed"}
	}
	query := url.Values{}
	from(query, q.From)
	limited(query, q.Limit)
	var page api.HistoryPage
	err := c.read(ctx, "history", "/agents/"+url.PathEscape(id)+"/history", query, settingsOf(opts), &page)
	return page, err
}

// AllHistory reads all of an agent's transitions, as one page: what it carries
// of index, node and lag is the first page's.
func (c *Client) AllHistory(ctx context.Context, id string, q api.HistoryQuery, opts ...Option) (api.HistoryPage, error) {
	whole, err := c.History(ctx, id, q, opts...)
	for err == nil && whole.Next != 0 {
		q.From = whole.Next
		var page api.HistoryPage
		if page, err = c.History(ctx, id, q, opts...); err == nil {
			whole.Transitions = append(whole.Transitions, page.Transitions...)
			whole.Next = page.Next
		}
	}
	if err != nil {
		return api.HistoryPage{}, err
	}
	return whole, nil
}

// Log reads one page of the execution log.
func (c *Client) Log(ctx context.Context, q api.LogQuery, opts ...Option) (api.LogPage, error) {
	query := url.Values{}
	from(query, q.From)
	if q.Agent != "" {
		query.Set("agent", q.Agent)
	}
	if q.Run != "" {
		query.Set("run", q.Run)
	}
	if q.Notes {
		query.Set("notes", "true")
	}
	limited(query, q.Limit)
	var page api.LogPage
	err := c.read(ctx, "log", "/log", query, settingsOf(opts), &page)
	return page, err
}

// Records reads the log from q.From to its present end. It stops at the first
// error.
func (c *Client) Records(ctx context.Context, q api.LogQuery, opts ...Option) iter.Seq2[api.Record, error] {
	return func(yield func(api.Record, error) bool) {
		if q.Limit == 0 {
			q.Limit = api.MaxPageItems
		}
		for {
			page, err := c.Log(ctx, q, opts...)
			if err != nil {
				yield(api.Record{}, err)
				return
			}
			for _, r := range page.Records {
				if !yield(r, nil) {
					return
				}
			}
			if q.From = page.Next; len(page.Records) == 0 {
				return
			}
		}
	}
}

// Status reads the cluster's status, as one node sees it.
func (c *Client) Status(ctx context.Context, opts ...Option) (api.Status, error) {
	return c.status(ctx, settingsOf(opts))
}

// Transfer hands leadership over to a node, or to the best follower. It is sent
// once: whether one that was not answered has come about, Status tells.
func (c *Client) Transfer(ctx context.Context, to string, opts ...Option) (api.Transferred, error) {
	var done api.Transferred
	k := &call{
		request:  request{op: "transfer", method: http.MethodPost, path: "/v1/cluster/transfer"},
		settings: settingsOf(opts), into: &done, toLeader: true, changes: true,
	}
	k.body = []byte(`{"to":` + strconv.Quote(to) + `}`)
	err := k.run(ctx, c.family)
	if err == nil {
		c.servers.answered(nil) // whoever answered leads no more
	}
	return done, err
}

// read makes one read.
func (c *Client) read(ctx context.Context, op, path string, query url.Values, s settings, into any) error {
	c.consistency(query, &s)
	k := &call{
		request:  request{op: op, method: http.MethodGet, path: c.prefix + path, query: query},
		settings: s, into: into, again: true,
		toLeader: s.consistency == "" || s.consistency == api.Linearizable,
	}
	if err := k.run(ctx, c.family); err != nil {
		var said *api.Error
		if errors.As(err, &said) {
			c.saw(said.Index) // that there is nothing is seen as of an index, too
		}
		return err
	}
	if answer, ok := into.(interface{ AsOf() uint64 }); ok {
		c.saw(answer.AsOf())
	}
	return nil
}

// consistency writes the parameters of CL-4. A session read without an index
// asks for everything that the client has seen.
func (c *Client) consistency(query url.Values, s *settings) {
	if s.consistency != "" {
		query.Set("consistency", s.consistency)
	}
	index := s.minIndex
	if s.consistency == api.SessionLevel {
		index = max(index, c.LastIndex())
	}
	if index > 0 {
		query.Set("min_index", strconv.FormatUint(index, 10))
	}
	if s.maxLag > 0 {
		query.Set("max_lag_ms", strconv.FormatInt(max(1, s.maxLag.Milliseconds()), 10))
	}
}

func from(query url.Values, seq uint64) {
	if seq > 0 {
		query.Set("from", strconv.FormatUint(seq, 10))
	}
}

func limited(query url.Values, limit int) {
	if limit != 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
}
