package mcpserver

import (
	"context"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

type submitWanted struct {
	ofAgent
	Program value.Raw `json:"program,omitempty" jsonschema:"an instruction, {kind, payload}; the agent's own when left out"`
	Script  string    `json:"script,omitempty" jsonschema:"instead, for an agent of script/1, a script"`
	Input   value.Raw `json:"input,omitempty" jsonschema:"any JSON value, which it sees as input"`
	keyed
}

func submitAgent(ctx context.Context, kernel *client.Client, in submitWanted) (any, error) {
	command := event.Submit{Agent: in.Agent, Program: in.Program, Input: in.Input}
	if in.Script != "" {
		var err error
		if command.Program, err = scripted(in.Program, in.Script); err != nil {
			return nil, err
		}
	}
	return done(kernel.Submit(ctx, command, in.once()...))
}

type sendWanted struct {
	ofAgent
	Message value.Raw `json:"message" jsonschema:"any JSON value"`
	keyed
}

func sendAgent(ctx context.Context, kernel *client.Client, in sendWanted) (any, error) {
	return done(kernel.Send(ctx, event.Send{Agent: in.Agent, Message: in.Message}, in.once()...))
}

// because is why something is done.
type because struct {
	Reason string `json:"reason,omitempty" jsonschema:"why, kept in the record, at most 256 bytes"`
	keyed
}

type suspendWanted struct {
	ofAgent
	Force bool `json:"force,omitempty" jsonschema:"withdraw the calls that it waits for, and hold it at once"`
	because
}

func suspendAgent(ctx context.Context, kernel *client.Client, in suspendWanted) (any, error) {
	return done(kernel.Trigger(ctx, event.Trigger{Agent: in.Agent, Trigger: "suspend", Reason: in.Reason, Force: in.Force}, in.once()...))
}

type agentBecause struct {
	ofAgent
	because
}

func resumeAgent(ctx context.Context, kernel *client.Client, in agentBecause) (any, error) {
	return done(kernel.Trigger(ctx, event.Trigger{Agent: in.Agent, Trigger: "resume", Reason: in.Reason}, in.once()...))
}

func killAgent(ctx context.Context, kernel *client.Client, in agentBecause) (any, error) {
	return done(kernel.Kill(ctx, event.Kill{Agent: in.Agent, Reason: in.Reason}, in.once()...))
}

type escalationsWanted struct {
	Agent string `json:"agent,omitempty" jsonschema:"only what this agent asked for"`
	After uint64 `json:"after,omitempty" jsonschema:"go on after this escalation, as next said"`
	paging
}

func listEscalations(ctx context.Context, kernel *client.Client, in escalationsWanted) (any, error) {
	page, err := kernel.Escalations(ctx, api.EscalationQuery{Agent: in.Agent, After: in.After, Limit: in.limit()})
	if err != nil {
		return nil, err
	}
	return page, paged(&page.Escalations, func(last, _ *api.OpenEscalation) { page.Next = last.Escalation })
}

type decision struct {
	Escalation uint64 `json:"escalation" jsonschema:"its number, as escalation_list has it" min:"1"`
	because
}

func approve(ctx context.Context, kernel *client.Client, in decision) (any, error) {
	return done(kernel.Decide(ctx, event.Decide{Escalation: in.Escalation, Approve: true, Reason: in.Reason}, in.once()...))
}

func deny(ctx context.Context, kernel *client.Client, in decision) (any, error) {
	return done(kernel.Decide(ctx, event.Decide{Escalation: in.Escalation, Reason: in.Reason}, in.once()...))
}

type question struct {
	ofAgent
	Action   string `json:"action" jsonschema:"such as tool.call"`
	Resource string `json:"resource" jsonschema:"such as http.request/GET/api.example.com/v1"`
}

func explain(ctx context.Context, kernel *client.Client, in question) (any, error) {
	return kernel.Explain(ctx, in.Agent, in.Action, in.Resource)
}
