package main

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newTaskCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "task",
		Short: "Calls that wait for a person",
		Long: `A program that calls a tool whose manifest names the adapter human asks a person:
the call waits until somebody answers it, or will not, or until its time is over. What
an answer must be is said by the tool's output schema.`,
		Args: onlySubcommands,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newTaskList(a), newTaskShow(a), newTaskComplete(a), newTaskReject(a))
	return c
}

func newTaskList(a *app) *cobra.Command {
	var how reading
	var agent string
	var page pageFlags
	c := &cobra.Command{
		Use:   "list",
		Short: "List the calls that wait for a person",
		Example: `  omni task list
  omni task list -o json | jq -r '.tasks[].task'`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.TaskPage, error) {
				return connection.Tasks(ctx, api.TaskQuery{Agent: agent, After: page.after, Limit: page.limit}, options...)
			}, show.Tasks)
		},
	}
	c.Flags().StringVar(&agent, "agent", "", "only what this agent asks")
	page.add(c, "task")
	how.addFlags(c)
	return c
}

func newTaskShow(a *app) *cobra.Command {
	var how reading
	c := &cobra.Command{
		Use:     "show ID",
		Short:   "Show one of them: who asks what, and what an answer must be",
		Example: `  omni task show 018f4e5c-0000-7000-8000-000000000001-1-1`,
		Args:    exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.TaskAnswer, error) {
				return connection.Task(ctx, args[0], options...)
			}, show.Task)
		},
	}
	how.addFlags(c)
	return c
}

func newTaskComplete(a *app) *cobra.Command {
	var result, file string
	c := &cobra.Command{
		Use:   "complete ID",
		Short: "Answer one",
		Long: `The result must fit the output schema of the tool as it was called, which
omni task show prints. The first answer is taken, and any other refused.`,
		Example: `  omni task complete 018f4e5c-0000-7000-8000-000000000001-1-1 --result '{"approved": true}'
  omni task complete 018f4e5c-0000-7000-8000-000000000001-1-1 -f answer.json`,
		Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			v, err := resultArg(c, result, file)
			if err != nil {
				return err
			}
			return a.change(c, "answered task "+args[0]+" of", func(ctx context.Context, connection *client.Client) (api.Done, error) {
				return connection.CompleteTask(ctx, args[0], v)
			})
		},
	}
	c.Flags().StringVar(&result, "result", "", "the answer, JSON")
	addFileFlag(c, &file, "file with the answer, JSON; - is stdin")
	return c
}

// resultArg reads the answer from the flag or from the file, one of the two.
func resultArg(c *cobra.Command, result, file string) (value.Raw, error) {
	given := c.Flags().Changed("result")
	if given == (file != "") {
		return nil, tell.Usage(`for example --result '{"approved": true}'`, "give the answer with --result JSON or with -f FILE")
	}
	if given {
		return jsonArg(c, "--result", result)
	}
	in := c.InOrStdin()
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxInputBytes+1))
	if err != nil {
		return nil, err
	}
	return jsonArg(c, file, string(text))
}

func newTaskReject(a *app) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:     "reject ID",
		Short:   "Say that nobody will answer one",
		Long:    `The call is answered TASK_REJECTED with the reason; the agent's program may handle that.`,
		Example: `  omni task reject 018f4e5c-0000-7000-8000-000000000001-1-1 --reason "ask the customer first"`,
		Args:    exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.change(c, "rejected task "+args[0]+" of", func(ctx context.Context, connection *client.Client) (api.Done, error) {
				return connection.RejectTask(ctx, args[0], reason)
			})
		},
	}
	addReasonFlag(c, &reason)
	return c
}
