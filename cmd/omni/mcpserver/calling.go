package mcpserver

import (
	"context"
	"slices"
	"strings"

	"github.com/omnikernel/omnikernel/cmd/omni/onecall"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

type toolsWanted struct {
	After string `json:"after,omitempty" jsonschema:"go on after this name, as next said"`
	paging
}

func listTools(ctx context.Context, kernel *client.Client, in toolsWanted) (any, error) {
	page, err := kernel.Tools(ctx, api.ToolQuery{After: in.After, Limit: in.limit()})
	if err != nil {
		return nil, err
	}
	return page, paged(&page.Tools, func(last, _ *api.ToolSummary) { page.Next = last.Name })
}

type toolNamed struct {
	Name string `json:"name" jsonschema:"the tool's name, such as weather.now"`
}

func getTool(ctx context.Context, kernel *client.Client, in toolNamed) (any, error) {
	return kernel.Tool(ctx, in.Name)
}

type callWanted struct {
	toolNamed
	Args   value.Raw `json:"args,omitempty" jsonschema:"the arguments, as the tool's input schema says; {} when left out"`
	Millis int64     `json:"timeout_ms,omitempty" jsonschema:"how long the call may take; as its manifest says when left out" min:"1"`
	Wait   int64     `json:"wait_ms,omitempty" jsonschema:"how long to wait for the answer, 20000 when left out; after that agent_wait goes on waiting" min:"1" max:"60000"`
	Reason string    `json:"reason,omitempty" jsonschema:"kept in the record, at most 256 bytes"`
	keyed
}

// called is what became of a call.
type called struct {
	AgentID string          `json:"agent_id"` // that made it
	Settled bool            `json:"settled"`
	Why     string          `json:"why,omitempty"`
	Answer  *onecall.Answer `json:"answer,omitempty"`
}

func callTool(ctx context.Context, kernel *client.Client, in callWanted) (any, error) {
	if len(in.Args) == 0 {
		in.Args = value.EmptyMap
	}
	if in.Wait == 0 {
		in.Wait = usualWaitMillis
	}
	start, problem := onecall.Start(in.Name, in.Args, in.Millis)
	if problem != nil {
		return nil, invalid("name", problem.Rule)
	}
	start.Reason = in.Reason
	started, err := kernel.Start(ctx, start, in.once()...)
	if err != nil {
		return nil, err
	}
	s := awaitStarted(ctx, kernel, started, in.Wait)
	if !s.Settled {
		return called{AgentID: s.AgentID, Why: s.Why}, nil
	}
	answer, ok := onecall.AnswerOf(*s.Agent)
	switch {
	case !ok:
		r := &refusal{Code: "AGENT_FAILED", Message: "the agent that made the call has no result", Hint: "agent_history tells what happened", AgentID: s.AgentID, State: s.Agent.State}
		if why := s.Agent.Failure; why != nil {
			r.Code, r.Message = why.Code, why.Message
		}
		return nil, r
	case !answer.OK:
		return nil, &refusal{
			Code: answer.Code, Definite: notMade(failure.Code(answer.Code)), Message: answer.Message,
			Hint: "agent_history tells what happened", AgentID: s.AgentID, State: s.Agent.State,
		}
	}
	return called{AgentID: s.AgentID, Settled: true, Answer: &answer}, nil
}

// notMade tells whether a call that ended with a code has certainly had no effect.
func notMade(code failure.Code) bool {
	switch code {
	case failure.PermissionDenied, failure.BudgetExceeded, failure.TokenRevoked, failure.TokenExpired, failure.TaskRejected:
		return true
	}
	return code.NeverCalled()
}

// agentTools is what an agent can call.
type agentTools struct {
	AgentID string              `json:"agent_id"`
	State   string              `json:"state"`
	Waits   []api.Wait          `json:"waits"`  // what it waits for now
	Grants  []permissions.Grant `json:"grants"` // its own that speak of tool.call
	Tools   []grantedTool       `json:"tools"`
	Next    string              `json:"next,omitempty"`
}

// grantedTool is a tool that some of those grants speak of. Grants of those above the
// agent may narrow what they say.
type grantedTool struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Effects     []string `json:"effects"` // of those grants, which may be for some of its calls only
}

type agentToolsWanted struct {
	ofAgent
	After string `json:"after,omitempty" jsonschema:"go on after this tool, as next said"`
	paging
}

func readAgentTools(ctx context.Context, kernel *client.Client, in agentToolsWanted) (any, error) {
	agent, err := kernel.Agent(ctx, in.Agent)
	if err != nil {
		return nil, err
	}
	found := agentTools{AgentID: agent.AgentID, State: agent.State, Waits: agent.Waits, Grants: []permissions.Grant{}, Tools: []grantedTool{}}
	if agent.Token == nil {
		return found, nil // it has no authority yet, or no more
	}
	token, err := kernel.Token(ctx, in.Agent)
	if err != nil {
		return nil, err
	}
	for _, g := range token.Grants {
		if permissions.ContainsAction(g.Action, "tool.call") {
			found.Grants = append(found.Grants, g)
		}
	}
	page, err := kernel.Tools(ctx, api.ToolQuery{After: in.After, Limit: in.limit()})
	if err != nil {
		return nil, err
	}
	found.Next = page.Next
	if in.After == "" {
		for _, name := range page.BuiltIn {
			found.add(name, "")
		}
	}
	for _, registered := range page.Tools {
		found.add(registered.Name, registered.Description)
	}
	return found, nil
}

// add adds a tool that a grant speaks of: the first segment of a resource is a tool's
// name.
func (f *agentTools) add(name, description string) {
	var effects []string
	for _, g := range f.Grants {
		first, _, _ := strings.Cut(g.Resource, "/")
		if effect := g.Effect.String(); (first == name || first == "*" || first == "**") && !slices.Contains(effects, effect) {
			effects = append(effects, effect)
		}
	}
	if effects != nil {
		f.Tools = append(f.Tools, grantedTool{Name: name, Description: description, Effects: effects})
	}
}
