package main

import (
	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/event"
)

// transition is a subcommand that asks for one transition of the lifecycle
// table.
type transition struct {
	trigger string // the table's word
	done    string // what has happened when it is done
	short   string
	long    string
	input   bool // takes --input
	force   bool // takes --force
}

var (
	spawn = transition{
		trigger: "spawn", done: "spawned", input: true,
		short: "Give a defined agent its place and its first instruction",
		long:  "DEFINED becomes SPAWNED: its grants are in force, and a place in the global queue\nis reserved.",
	}
	activate = transition{
		trigger: "activate", done: "activated",
		short: "Let a spawned agent run",
		long:  "SPAWNED becomes ACTIVE: its program is queued.",
	}
	suspend = transition{
		trigger: "suspend", done: "suspended", force: true,
		short: "Hold an agent",
		long: `ACTIVE becomes RESUMABLE, with a checksum over what it remembers. It expires by
itself when nobody resumes it in time. A WAITING agent is suspended as soon as it
has what it waits for; with --force its calls are taken back and answered with
WITHDRAWN, and it is suspended at once.`,
	}
	resume = transition{
		trigger: "resume", done: "resumed",
		short: "Let a suspended agent go on",
		long:  "RESUMABLE becomes ACTIVE, after its memory was checked against the checksum.",
	}
	expire = transition{
		trigger: "expire", done: "expired",
		short: "End a suspended agent",
		long:  "RESUMABLE becomes TERMINATED.",
	}
	recoverFault = transition{
		trigger: "recover", done: "recovering",
		short: "Let a faulted agent try again",
		long: `FAULTED becomes RECOVERING, and ACTIVE again: the failed tick runs again from its
checkpoint. Only a TRANSIENT fault can be recovered; the kernel does so by itself,
a few times. A PERMANENT one can be reclassified first: omni agent reclassify.`,
	}
	abandon = transition{
		trigger: "abandon", done: "abandoned",
		short: "Give a faulted agent up",
		long:  "FAULTED becomes TERMINATED.",
	}
)

func newAgentTrigger(a *app, t transition) *cobra.Command {
	var reason, input string
	var force bool
	c := &cobra.Command{
		Use:     t.trigger + " ID",
		Short:   t.short,
		Long:    t.short + ".\n\n" + t.long,
		Example: "  omni agent " + t.trigger + ` 018f4e5c-0000-7000-8000-000000000001 --reason "because"`,
		Args:    exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			command := event.Trigger{Agent: args[0], Trigger: t.trigger, Reason: reason, Force: force}
			if t.input {
				var err error
				if command.Input, err = readInput(c, input); err != nil {
					return err
				}
			}
			connection, err := a.connect()
			if err != nil {
				return err
			}
			defer connection.Close()
			done, err := connection.Trigger(c.Context(), command)
			if err != nil {
				return err
			}
			return a.tell.Data(done, func(p *tell.Page) { show.Done(p, t.done, done) })
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "kept in the record")
	if t.input {
		addInputFlag(c, &input)
	}
	if t.force {
		c.Flags().BoolVar(&force, "force", false, "take back the calls that a WAITING agent waits for")
	}
	return c
}
