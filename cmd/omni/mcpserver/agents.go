package mcpserver

import (
	"context"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// ofAgent names an agent.
type ofAgent struct {
	Agent string `json:"agent" jsonschema:"the agent's id, a UUID"`
}

type agentsWanted struct {
	State  string            `json:"state,omitempty" jsonschema:"only agents in this lifecycle state" enum:"DEFINED,SPAWNED,ACTIVE,WAITING,RESUMABLE,COMPLETING,FAULTED,RECOVERING,TERMINATED"`
	Labels map[string]string `json:"labels,omitempty" jsonschema:"only agents that have all of these"`
	After  string            `json:"after,omitempty" jsonschema:"go on after this agent id, as next said"`
	paging
}

func listAgents(ctx context.Context, kernel *client.Client, in agentsWanted) (any, error) {
	page, err := kernel.Agents(ctx, api.AgentQuery{State: in.State, Labels: in.Labels, After: in.After, Limit: in.limit()})
	if err != nil {
		return nil, err
	}
	return page, paged(&page.Agents, func(last, _ *api.AgentSummary) { page.Next = last.AgentID })
}

func getAgent(ctx context.Context, kernel *client.Client, in ofAgent) (any, error) {
	return kernel.Agent(ctx, in.Agent)
}

type historyWanted struct {
	ofAgent
	From uint64 `json:"from,omitempty" jsonschema:"only transitions from this busSeq on, as next said"`
	paging
}

func readHistory(ctx context.Context, kernel *client.Client, in historyWanted) (any, error) {
	page, err := kernel.History(ctx, in.Agent, api.HistoryQuery{From: in.From, Limit: in.limit()})
	if err != nil {
		return nil, err
	}
	return page, paged(&page.Transitions, func(_, first *api.Transition) { page.Next = first.BusSeq })
}

type treeWanted struct {
	ofAgent
	After string `json:"after,omitempty" jsonschema:"go on after this agent id, as next said"`
	paging
}

func readTree(ctx context.Context, kernel *client.Client, in treeWanted) (any, error) {
	page, err := kernel.Tree(ctx, in.Agent, api.TreeQuery{After: in.After, Limit: in.limit()})
	if err != nil {
		return nil, err
	}
	return page, paged(&page.Agents, func(last, _ *api.TreeAgent) { page.Next = last.AgentID })
}
