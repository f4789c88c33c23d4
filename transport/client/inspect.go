package client

import (
	"context"
	"net/url"
	"strconv"

	"github.com/omnikernel/omnikernel/transport/api"
)

// MemoryValue reads one value of an agent's persistent memory.
func (c *Client) MemoryValue(ctx context.Context, agent, key string, opts ...Option) (api.MemoryValue, error) {
	return get[api.MemoryValue](ctx, c, "get", "/agents/", agent, "/memory/value", url.Values{"key": {key}}, opts)
}

// MemoryKeys reads one page of the keys of an agent's persistent memory.
func (c *Client) MemoryKeys(ctx context.Context, agent string, q api.MemoryQuery, opts ...Option) (api.MemoryPage, error) {
	return get[api.MemoryPage](ctx, c, "list", "/agents/", agent, "/memory", keysQuery(q), opts)
}

// SharedValue reads one value of shared memory.
func (c *Client) SharedValue(ctx context.Context, namespace, key string, opts ...Option) (api.MemoryValue, error) {
	return get[api.MemoryValue](ctx, c, "get", "/shared/", namespace, "/value", url.Values{"key": {key}}, opts)
}

// SharedKeys reads one page of the keys of a namespace.
func (c *Client) SharedKeys(ctx context.Context, namespace string, q api.MemoryQuery, opts ...Option) (api.MemoryPage, error) {
	return get[api.MemoryPage](ctx, c, "list", "/shared/", namespace, "", keysQuery(q), opts)
}

// Explain asks what the kernel would answer if the agent asked now, and why.
func (c *Client) Explain(ctx context.Context, agent, action, resource string, opts ...Option) (api.Explanation, error) {
	query := url.Values{"action": {action}, "resource": {resource}}
	return get[api.Explanation](ctx, c, "explain", "/agents/", agent, "/permission", query, opts)
}

// Escalations reads one page of the requests that wait for a decision.
func (c *Client) Escalations(ctx context.Context, q api.EscalationQuery, opts ...Option) (api.EscalationPage, error) {
	query := url.Values{}
	if q.Agent != "" {
		query.Set("agent", q.Agent)
	}
	if q.After != 0 {
		query.Set("after", strconv.FormatUint(q.After, 10))
	}
	limited(query, q.Limit)
	var page api.EscalationPage
	err := c.read(ctx, "list", "/escalations", query, settingsOf(opts), &page)
	return page, err
}

// Escalation reads one of them.
func (c *Client) Escalation(ctx context.Context, number uint64, opts ...Option) (api.EscalationAnswer, error) {
	return get[api.EscalationAnswer](ctx, c, "show", "/escalations/", strconv.FormatUint(number, 10), "", url.Values{}, opts)
}

// Tree reads one page of an agent's tree, depth first.
func (c *Client) Tree(ctx context.Context, agent string, q api.TreeQuery, opts ...Option) (api.TreePage, error) {
	query := url.Values{}
	if q.After != "" {
		query.Set("after", q.After)
	}
	limited(query, q.Limit)
	return get[api.TreePage](ctx, c, "tree", "/agents/", agent, "/tree", query, opts)
}

// Token reads a token, by its own id or its agent's.
func (c *Client) Token(ctx context.Context, id string, opts ...Option) (api.TokenAnswer, error) {
	return get[api.TokenAnswer](ctx, c, "show", "/tokens/", id, "", url.Values{}, opts)
}

// Tokens reads one page of a list of tokens.
func (c *Client) Tokens(ctx context.Context, q api.TokenQuery, opts ...Option) (api.TokenPage, error) {
	query := url.Values{}
	if q.InForce {
		query.Set("in_force", "true")
	}
	if q.After != "" {
		query.Set("after", q.After)
	}
	limited(query, q.Limit)
	var page api.TokenPage
	err := c.read(ctx, "list", "/tokens", query, settingsOf(opts), &page)
	return page, err
}

// AllFaults reads all that went wrong with an agent, as one page: what it
// carries of index, node and lag is the first page's.
func (c *Client) AllFaults(ctx context.Context, agent string, q api.HistoryQuery, opts ...Option) (api.FaultPage, error) {
	whole, err := c.faults(ctx, agent, q, opts)
	for err == nil && whole.Next != 0 {
		q.From = whole.Next
		var page api.FaultPage
		if page, err = c.faults(ctx, agent, q, opts); err == nil {
			whole.Faults = append(whole.Faults, page.Faults...)
			whole.Next = page.Next
		}
	}
	if err != nil {
		return api.FaultPage{}, err
	}
	return whole, nil
}

func (c *Client) faults(ctx context.Context, agent string, q api.HistoryQuery, opts []Option) (api.FaultPage, error) {
	query := url.Values{}
	from(query, q.From)
	limited(query, q.Limit)
	return get[api.FaultPage](ctx, c, "faults", "/agents/", agent, "/faults", query, opts)
}

// Audit reads the newest breaches of invariants; limit 0 is 100 of them.
func (c *Client) Audit(ctx context.Context, limit int, opts ...Option) (api.AuditPage, error) {
	query := url.Values{}
	limited(query, limit)
	var page api.AuditPage
	err := c.read(ctx, "audit", "/audit", query, settingsOf(opts), &page)
	return page, err
}

// get reads what stands at an address with one name in it.
func get[T any](ctx context.Context, c *Client, op, before, name, after string, query url.Values, opts []Option) (answer T, err error) {
	if name == "" {
		return answer, &Usage{op + ": a name for " + before + "… is needed"}
	}
	err = c.read(ctx, op, before+url.PathEscape(name)+after, query, settingsOf(opts), &answer)
	return answer, err
}

func keysQuery(q api.MemoryQuery) url.Values {
	query := url.Values{}
	if q.Prefix != "" {
		query.Set("prefix", q.Prefix)
	}
	if q.After != "" {
		query.Set("after", q.After)
	}
	limited(query, q.Limit)
	return query
}
