package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/demo"
	"github.com/omnikernel/omnikernel/cmd/omni/dev"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
)

func newDemoCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "demo [-- SERVER-FLAGS]",
		Short: "See it work: an agent lives on while its leader is killed",
		Long: `Starts three nodes on this machine and an agent that calls a tool, kills the
leader in the middle of the call, and shows what became of it: the agent's
result, its history on every node, the commands of other clients, the digests.
It takes less than half a minute, and leaves nothing behind.

The exit code is 0 only if nothing was lost, nothing duplicated, the agent's
result is the expected one, its tool was called as recorded, and all nodes have
the same history and digest.`,
		Example: `  omni demo
  omni demo -o json | jq .first_write_ms`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && c.ArgsLenAtDash() != 0 {
				return tell.Usage("flags for the servers come after --", "%q is one argument too many", args[0])
			}
			sum, err := demo.Run(c.Context(), demo.Options{Tell: a.tell, Dev: dev.Options{ServerFlags: args, KernelID: a.kernel}})
			if err != nil {
				return err
			}
			if err := a.tell.Data(sum, func(p *tell.Page) {
				p.Line("")
				if sum.Held {
					p.Line("%s", p.Good("All of it held."))
				}
				p.Line("%s", p.Faint("To go on yourself: omni dev"))
			}); err != nil {
				return err
			}
			if !sum.Held {
				return tell.NotHeld("this did not hold: %s", strings.Join(sum.Broken, "; "))
			}
			return nil
		},
	}
}
