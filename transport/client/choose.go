package client

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/omnikernel/omnikernel/transport/api"
)

// choose finds the first server to ask: the one that the call names, the leader
// as far as it is known, or the next one in turn.
func (f *family) choose(ctx context.Context, s *settings, leader bool) (*server, error) {
	if s.node == "" {
		return f.servers.first(leader), nil
	}
	if strings.ContainsAny(s.node, ":/") {
		found, ok := f.servers.parse(s.node)
		if !ok {
			return nil, &Usage{"node " + s.node + ": must be a node's id, host:port or an http URL"}
		}
		return found, nil
	}
	if found, ok := f.servers.node(s.node); ok {
		return found, nil
	}
	if _, err := f.status(ctx, settings{}); err != nil {
		return nil, err
	}
	found, ok := f.servers.node(s.node)
	if !ok {
		ids := f.servers.nodeIDs()
		slices.Sort(ids)
		return nil, &Usage{"node " + s.node + ": the cluster has " + strings.Join(ids, ", ")}
	}
	return found, nil
}

// status asks for the cluster's status, and learns where its nodes are.
func (f *family) status(ctx context.Context, s settings) (api.Status, error) {
	var status api.Status
	c := &call{
		request:  request{op: "status", method: http.MethodGet, path: "/v1/cluster/status", query: url.Values{}},
		settings: s, into: &status, again: true,
	}
	if s.alone {
		c.query.Set("alone", "true")
	}
	if err := c.run(ctx, f); err != nil {
		return api.Status{}, err
	}
	for _, n := range status.Nodes {
		f.servers.learn(n.ID, n.API)
		if n.Role == "leader" && n.ID == status.Leader {
			f.servers.leads(n.API)
		}
	}
	return status, nil
}
