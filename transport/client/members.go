package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/omnikernel/omnikernel/transport/api"
)

// Members asks a node who the members are, and how each of them is.
func (c *Client) Members(ctx context.Context, opts ...Option) (api.Members, error) {
	var members api.Members
	k := &call{
		request:  request{op: "list members", method: http.MethodGet, path: "/v1/cluster/members"},
		settings: settingsOf(opts), into: &members, again: true,
	}
	if err := k.run(ctx, c.family); err != nil {
		return members, err
	}
	for i := range members.Members {
		c.servers.learn(members.Members[i].ID, members.Members[i].API)
	}
	return members, nil
}

// AddMember has a node taken in that waits for it.
func (c *Client) AddMember(ctx context.Context, body api.AddMemberBody, opts ...Option) (api.MemberChanged, error) {
	if body.ID == "" || body.Raft == "" {
		return api.MemberChanged{}, &Usage{"add member: its id and its Raft address are needed"}
	}
	return c.changeMember(ctx, "add member", "", body, opts)
}

// RemoveMember removes a node for ever; with force also when a majority may be lost.
func (c *Client) RemoveMember(ctx context.Context, node string, force bool, opts ...Option) (api.MemberChanged, error) {
	return c.changeMember(ctx, "remove member", "/"+url.PathEscape(node)+"/remove", api.RemoveMemberBody{Force: force}, opts)
}

// PromoteMember makes a learner a voter.
func (c *Client) PromoteMember(ctx context.Context, node string, opts ...Option) (api.MemberChanged, error) {
	return c.changeMember(ctx, "promote member", "/"+url.PathEscape(node)+"/promote", nil, opts)
}

// DemoteMember makes a voter a learner; with force also when a majority may be lost.
func (c *Client) DemoteMember(ctx context.Context, node string, force bool, opts ...Option) (api.MemberChanged, error) {
	return c.changeMember(ctx, "demote member", "/"+url.PathEscape(node)+"/demote", api.RemoveMemberBody{Force: force}, opts)
}

// changeMember is sent to the leader, and once: what came of one that was not answered,
// Members tells.
func (c *Client) changeMember(ctx context.Context, op, path string, body any, opts []Option) (api.MemberChanged, error) {
	var done api.MemberChanged
	k := &call{
		request:  request{op: op, method: http.MethodPost, path: "/v1/cluster/members" + path},
		settings: settingsOf(opts), into: &done, toLeader: true, changes: true,
	}
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return done, &Usage{op + ": " + err.Error()}
		}
		k.body = encoded
	}
	return done, k.run(ctx, c.family)
}
