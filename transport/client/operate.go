package client

import (
	"context"
	"net/url"
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Send puts a message into an agent's mailbox.
func (c *Client) Send(ctx context.Context, cmd event.Send, opts ...Option) (api.Done, error) {
	if cmd.Agent == "" {
		return api.Done{}, &Usage{"send: an agent is needed"}
	}
	return c.command(ctx, "send", "/agents/"+url.PathEscape(cmd.Agent)+"/messages", api.SendBody{Message: cmd.Message}, opts)
}

// Reclassify calls a FAULTED agent's PERMANENT fault TRANSIENT, so that it can
// be recovered.
func (c *Client) Reclassify(ctx context.Context, cmd event.Reclassify, opts ...Option) (api.Done, error) {
	if cmd.Agent == "" {
		return api.Done{}, &Usage{"reclassify: an agent is needed"}
	}
	return c.command(ctx, "reclassify", "/agents/"+url.PathEscape(cmd.Agent)+"/reclassify", api.ReclassifyBody{Reason: cmd.Reason}, opts)
}

// RevokeToken revokes a token, and with it everything below its agent. Agent
// may be the token's id instead.
func (c *Client) RevokeToken(ctx context.Context, cmd event.RevokeToken, opts ...Option) (api.Done, error) {
	if cmd.Agent == "" {
		return api.Done{}, &Usage{"revoke: a token or its agent is needed"}
	}
	return c.command(ctx, "revoke", "/tokens/"+url.PathEscape(cmd.Agent)+"/revoke", api.RevokeBody{Reason: cmd.Reason}, opts)
}

// ArchiveLog moves what no living agent needs of the log's sealed segments that
// end before a busSeq to the archive; 0 is all of them.
func (c *Client) ArchiveLog(ctx context.Context, cmd event.ArchiveLog, opts ...Option) (api.Done, error) {
	return c.command(ctx, "archive", "/log/archive", api.ArchiveBody{Before: cmd.Before}, opts)
}

// SuspendKernel is the emergency stop of the whole cluster: nothing runs until
// ResumeKernel.
func (c *Client) SuspendKernel(ctx context.Context, cmd event.SuspendKernel, opts ...Option) (api.Done, error) {
	return c.command(ctx, "estop", "/suspend", api.SuspendKernelBody{Reason: cmd.Reason}, opts)
}

// ResumeKernel ends the emergency stop.
func (c *Client) ResumeKernel(ctx context.Context, cmd event.ResumeKernel, opts ...Option) (api.Done, error) {
	return c.command(ctx, "resume", "/resume", api.ResumeKernelBody{Reason: cmd.Reason}, opts)
}

// RevokeGrant takes one ALLOW away from an agent and from whatever was
// delegated from it.
func (c *Client) RevokeGrant(ctx context.Context, cmd event.RevokeGrant, opts ...Option) (api.Done, error) {
	if cmd.Agent == "" {
		return api.Done{}, &Usage{"revoke: an agent is needed"}
	}
	path := "/agents/" + url.PathEscape(cmd.Agent) + "/grants/" + strconv.FormatUint(uint64(cmd.Grant), 10) + "/revoke"
	return c.command(ctx, "revoke", path, api.RevokeBody{Reason: cmd.Reason}, opts)
}

// SetBudget gives the account that an agent holds other limits; those that are nil
// stay as they are.
func (c *Client) SetBudget(ctx context.Context, cmd event.SetBudget, opts ...Option) (api.Done, error) {
	if cmd.Agent == "" {
		return api.Done{}, &Usage{"budget: an agent is needed"}
	}
	body := api.BudgetBody{
		Tokens: cmd.Tokens, USDMicros: cmd.USDMicros, WallMillis: cmd.WallMillis, WarnPercent: cmd.WarnPercent, Reason: cmd.Reason,
	}
	return c.command(ctx, "budget", "/agents/"+url.PathEscape(cmd.Agent)+"/budget", body, opts)
}

// Decide approves or denies a request that waits for a decision.
func (c *Client) Decide(ctx context.Context, cmd event.Decide, opts ...Option) (api.Done, error) {
	path := "/escalations/" + strconv.FormatUint(cmd.Escalation, 10) + "/decide"
	return c.command(ctx, "decide", path, api.DecideBody{Approve: cmd.Approve, Reason: cmd.Reason}, opts)
}

// PutShared writes one key of shared memory; the answer has its new version.
func (c *Client) PutShared(ctx context.Context, cmd event.PutShared, opts ...Option) (api.Done, error) {
	if cmd.Namespace == "" {
		return api.Done{}, &Usage{"put: a namespace is needed"}
	}
	body := api.PutBody{Key: cmd.Key, Value: cmd.Value, Version: cmd.Version}
	return c.command(ctx, "put", "/shared/"+url.PathEscape(cmd.Namespace)+"/put", body, opts)
}

// DeleteShared deletes one key of shared memory.
func (c *Client) DeleteShared(ctx context.Context, cmd event.DeleteShared, opts ...Option) (api.Done, error) {
	if cmd.Namespace == "" {
		return api.Done{}, &Usage{"delete: a namespace is needed"}
	}
	body := api.DeleteBody{Key: cmd.Key, Version: cmd.Version}
	return c.command(ctx, "delete", "/shared/"+url.PathEscape(cmd.Namespace)+"/delete", body, opts)
}
