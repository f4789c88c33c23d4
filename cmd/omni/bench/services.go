package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// literal is the program of agents that are only defined.
var literal = program(map[string]any{"kind": "LITERAL", "payload": map[string]any{"value": true}})

// calls is a program that calls a tool once for each item of its input.
func calls(tool string) value.Raw {
	return program(map[string]any{"kind": "MAP", "payload": map[string]any{
		"over": "${input}", "as": "item",
		"do": map[string]any{"kind": "CALL", "payload": map[string]any{"tool": tool, "args": "${item}"}},
	}})
}

func program(v any) value.Raw {
	raw, problem := value.FromGo(v)
	if problem != nil {
		panic("bench: a program that is no value: " + problem.String())
	}
	return raw
}

// services starts so many agents that wait for instructions, may call one tool, and
// have a first instruction on the input given. Their ids are made here.
func (o *Options) services(ctx context.Context, source value.Raw, tool string, input value.Raw, n int) ([]string, error) {
	ids := make([]string, n)
	commands := make([]api.Command, n)
	for i := range ids {
		id, err := uuid.NewV7()
		if err != nil {
			return nil, fmt.Errorf("make an id: %w", err)
		}
		ids[i] = id.String()
		commands[i] = api.NewCommand(event.Start{Input: input, Define: event.Define{
			ID: ids[i], Mode: "service", Program: source, Labels: map[string]string{"omni-bench": "agent"},
			Grants: []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: tool}},
		}})
	}
	return ids, firstError(o.Client.Batch(ctx, commands))
}

// end kills the agents of a benchmark. It is tidying up: whether it worked
// changes no figure, and the interrupted benchmark ends its agents as well.
func (o *Options) end(ids []string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	commands := make([]api.Command, len(ids))
	for i, id := range ids {
		commands[i] = api.NewCommand(event.Kill{Agent: id, Reason: "the benchmark is over"})
	}
	_, _ = o.Client.Batch(ctx, commands)
}

func firstError(results []client.Result, err error) error {
	for _, r := range results {
		if err == nil {
			err = r.Err
		}
	}
	return err
}
