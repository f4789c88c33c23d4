package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newToolCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "tool",
		Short: "Tools that programs can call, registered with a manifest",
		Long: `A manifest says what a tool is called, what runs it, what it takes and gives, and
what a call may cost. Every node knows it, from the event on that registers it. Who may
call it is said by grants, as for every other tool: action tool.call, resource the
tool's name and what its manifest derives from the arguments.`,
		Args: onlySubcommands,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newToolRegister(a), newToolList(a), newToolShow(a), newToolTest(a), newToolDeregister(a), newToolImport(a),
		newSchemaCommand(a, "tool", "manifests"))
	return c
}

func newToolRegister(a *app) *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "register -f FILE",
		Short: "Register a tool, or another revision of one",
		Long: `The file is a manifest, YAML or JSON. Registering a name again makes another
revision, which new calls get; running calls keep theirs. The same manifest again
changes nothing.

A manifest is checked whole before it is taken: its schemas compile, the arguments that
its address and its resource name are in its input schema, the adapter is one that the
node has. Secrets are named and never in it: the node that runs a call resolves them.`,
		Example: `  omni tool register -f weather.yaml
  omni tool register -f weather.yaml -o json | jq .version`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			f, command, err := readManifest(file, c.InOrStdin())
			if err != nil {
				return err
			}
			connection, err := a.connect()
			if err != nil {
				return err
			}
			defer connection.Close()
			done, err := connection.RegisterTool(c.Context(), command)
			if err != nil {
				return inFile(err, f, "manifest.")
			}
			return a.tell.Data(done, func(p *tell.Page) { show.Registered(p, command.Manifest.Name, done) })
		},
	}
	addFileFlag(c, &file, "manifest, YAML or JSON; - is stdin")
	return c
}

func newToolList(a *app) *cobra.Command {
	var how reading
	var page pageFlags
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the registered tools",
		Long:    `With -o json also the names of the tools that need no manifest.`,
		Example: `  omni tool list`,
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.ToolPage, error) {
				return connection.Tools(ctx, api.ToolQuery{After: page.after, Limit: page.limit}, options...)
			}, show.Tools)
		},
	}
	page.add(c, "tool")
	how.addFlags(c)
	return c
}

func newToolShow(a *app) *cobra.Command {
	var how reading
	c := &cobra.Command{
		Use:   "show NAME",
		Short: "Show one registered tool",
		Long:  `With -o json the whole manifest.`,
		Example: `  omni tool show weather.now
  omni tool show weather.now -o json | jq .manifest.input`,
		Args: exactly("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.Tool, error) {
				return connection.Tool(ctx, args[0], options...)
			}, show.Tool)
		},
	}
	how.addFlags(c)
	return c
}

func newToolDeregister(a *app) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:   "deregister NAME",
		Short: "Take a tool away from new calls",
		Long: `New calls are answered TOOL_UNKNOWN from then on, and so is a call that waits for a
decision, or for room in a budget, when its turn comes. Running calls go on.`,
		Example: `  omni tool deregister weather.now --reason "the service is gone"`,
		Args:    exactly("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.changeAs(c, func(ctx context.Context, connection *client.Client) (api.Done, error) {
				return connection.DeregisterTool(ctx, event.DeregisterTool{Name: args[0], Reason: reason})
			}, func(p *tell.Page, done api.Done) { show.Deregistered(p, args[0], done) })
		},
	}
	addReasonFlag(c, &reason)
	return c
}
