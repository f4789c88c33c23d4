package main

import (
	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/onecall"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newToolTest(a *app) *cobra.Command {
	var args string
	var timeout int64
	c := &cobra.Command{
		Use:   "test NAME",
		Short: "Call a tool once, and print what it answers",
		Long: `The call is an agent's like any other: one is started that may do nothing else, so
that the call is judged, made by the leader, and on record. It ends with its call;
exit 1 when that failed.`,
		Example: `  omni tool test weather.now --args '{"city": "Oslo"}'
  omni tool test echo --args '"hello"'`,
		Args: exactly("NAME"),
		RunE: func(c *cobra.Command, names []string) error {
			start, err := oneCall(names[0], args, timeout)
			if err != nil {
				return err
			}
			connection, err := a.connect()
			if err != nil {
				return err
			}
			defer connection.Close()
			done, err := connection.Start(c.Context(), start)
			if err != nil {
				return err
			}
			a.tell.Say("started %s for the call, waiting for its end", done.AgentID)
			agent, err := connection.Await(c.Context(), done.AgentID, ended, client.MinIndex(done.Index))
			if err != nil {
				return err
			}
			return a.answered(names[0], agent)
		},
	}
	c.Flags().StringVar(&args, "args", "{}", "JSON arguments of the call")
	c.Flags().Int64Var(&timeout, "timeout-ms", 0, "how long the call may take; as its manifest says when 0")
	return c
}

// answered prints what the call came to: the agent's result is that, whatever it is.
func (a *app) answered(tool string, agent api.Agent) error {
	answer, ok := onecall.AnswerOf(agent)
	if !ok {
		return &tell.Problem{Exit: api.ExitRefused, Code: tell.CodeAgentFailed, Message: failed(agent),
			Hint: "omni agent history " + agent.AgentID + " tells what happened"}
	}
	if !answer.OK {
		return &tell.Problem{Exit: api.ExitRefused, Code: answer.Code, Message: tool + ": " + answer.Message,
			Hint: "omni agent history " + agent.AgentID + " tells what happened"}
	}
	return a.tell.Data(answer.Value, func(p *tell.Page) { p.Line("%s", answer.Value.AppendJSON(nil)) })
}

func oneCall(tool, args string, timeout int64) (event.Start, error) {
	input, problem := value.FromJSON([]byte(args), maxInputBytes)
	if problem != nil {
		return event.Start{}, tell.Usage(`for example --args '{"city": "Oslo"}'`, "--args is no JSON value: %s", problem)
	}
	start, problem := onecall.Start(tool, input, timeout)
	if problem != nil {
		return event.Start{}, tell.Usage("see what there is with: omni tool list", "NAME is no name of a tool: %s", problem)
	}
	start.Reason = "omni tool test"
	return start, nil
}
