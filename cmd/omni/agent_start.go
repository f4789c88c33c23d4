package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/agentfile"
	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/evaluator/script"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newAgentStart(a *app) *cobra.Command {
	var file, input, reason string
	var wait bool
	c := &cobra.Command{
		Use:   "start -f FILE",
		Short: "Define, spawn and activate in one: all of it or nothing",
		Example: `  omni agent start -f agent.yaml --input '{"name": "Ada"}' --wait
  omni agent start -f agent.yaml -o json | jq -r .agent_id`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			f, define, err := readAgent(file, c.InOrStdin())
			if err != nil {
				return err
			}
			start := event.Start{Define: define, Reason: reason}
			if start.Input, err = readInput(c, input); err != nil {
				return err
			}
			connection, err := a.connect()
			if err != nil {
				return err
			}
			defer connection.Close()
			done, err := connection.Start(c.Context(), start)
			if err != nil {
				return ofDefinition(err, f)
			}
			if !wait {
				return a.tell.Data(done, func(p *tell.Page) { show.Done(p, "started", done) })
			}
			a.tell.Say("started %s, waiting for its end", done.AgentID)
			return a.awaitOf(c.Context(), connection, done, f)
		},
	}
	addFileFlag(c, &file, "agent file, YAML or JSON; - is stdin")
	addInputFlag(c, &input)
	c.Flags().StringVar(&reason, "reason", "", "kept in the record")
	c.Flags().BoolVar(&wait, "wait", false, "wait until the agent has ended, or as a service has nothing left to do, and print its result; exit 1 when it failed")
	return c
}

func addInputFlag(c *cobra.Command, input *string) {
	c.Flags().StringVar(input, "input", "", "JSON that the program sees as input")
}

// maxInputBytes is more than any kernel takes; the cluster's own limit is its
// configuration's max_value_bytes.
const maxInputBytes = 1 << 20

// readInput reads the flag --input; empty when it was not given.
func readInput(c *cobra.Command, text string) (value.Raw, error) {
	if !c.Flags().Changed("input") {
		return nil, nil
	}
	input, problem := value.FromJSON([]byte(text), maxInputBytes)
	if problem != nil {
		return nil, tell.Usage(`for example --input '{"name": "Ada"}'`, "--input is no JSON value: %s", problem)
	}
	return input, nil
}

// await follows an agent to its end and prints what it came to.
func (a *app) await(ctx context.Context, connection *client.Client, done api.Done) error {
	return a.awaitOf(ctx, connection, done, nil)
}

// awaitOf is await for an agent that a file defines: where its script failed is told by
// the file's line, too.
func (a *app) awaitOf(ctx context.Context, connection *client.Client, done api.Done, f *agentfile.File) error {
	agent, err := connection.Await(ctx, done.AgentID, ended, client.MinIndex(done.Index))
	if err != nil {
		return err
	}
	if err := a.tell.Data(agent, func(p *tell.Page) { show.Result(p, agent) }); err != nil {
		return err
	}
	if agent.Failure == nil && agent.State != "FAULTED" && agent.Result != nil {
		return nil
	}
	problem := &tell.Problem{Exit: api.ExitRefused, Code: tell.CodeAgentFailed, Message: failed(agent),
		Hint: "omni agent history " + agent.AgentID + " tells what happened"}
	if f != nil && agent.Failure != nil && agent.Evaluator == script.Name {
		if line, column, ok := f.InText("script", int(agent.Failure.Line), int(agent.Failure.Column)); ok {
			return &tell.InFile{Err: problem, File: f.Name, Line: line, Column: column}
		}
	}
	return problem
}

// ended tells that an agent has come to rest: for ever, or, as a service does,
// until somebody submits more.
func ended(agent api.Agent) bool {
	idle := agent.Mode == "service" && agent.State == "ACTIVE" && agent.Tick == nil && agent.Queued == 0
	return idle || client.Finished(agent)
}

// failed says in a sentence why an agent has no result.
func failed(agent api.Agent) string {
	if agent.Failure != nil {
		return "agent " + agent.AgentID + " failed: " + agent.Failure.Code + ": " + agent.Failure.Message
	}
	text := "agent " + agent.AgentID + " is " + agent.State + " without a result"
	if n := len(agent.Transitions); n > 0 && agent.Transitions[n-1].Code != "" {
		text += ": " + agent.Transitions[n-1].Code
	}
	return text
}
