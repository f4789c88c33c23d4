package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newAgentFork(a *app) *cobra.Command {
	var f forkFlags
	c := &cobra.Command{
		Use:   "fork ID --at SEQ",
		Short: "Start a new agent from a recorded point of another's history",
		Long: `The new agent has what the other had at the end of the event that the record SEQ
belongs to: its programs, its memory, its messages, its instructions, and the tick
that was in progress, with the results on record. From there it goes its own way,
as an agent of its own with a token of its own; the other one is left as it is,
also when it has ended long ago.

Calls that had their answer are not made again. Calls that were open then are
asked for anew, and judged under the new agent's grants: those that the other had
left, or with --grants those of a file. Children are not copied: the request that
made them is answered WITHDRAWN.

--set KEY=JSON lets it remember something else; --input gives it one more
instruction, its own program with that input, which a task agent that had nothing
to run at that point needs.`,
		Example: `  omni log --agent 018f4e5c-0000-7000-8000-000000000001
  omni agent fork 018f4e5c-0000-7000-8000-000000000001 --at 1234 --wait
  omni agent fork 018f4e5c-0000-7000-8000-000000000001 --at 1234 --set plan='"the other"' --grants narrower.yaml`,
		Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, a, args[0]) },
	}
	flags := c.Flags()
	flags.Uint64Var(&f.at, "at", 0, "busSeq of a record; must be given")
	flags.StringVar(&f.body.ID, "id", "", "UUID of the new agent; the kernel makes one")
	flags.StringVar(&f.body.Name, "name", "", "its name; the other's when left out")
	flags.StringArrayVar(&f.set, "set", nil, "KEY=JSON: a key of its memory that begins with that value; may be repeated")
	flags.StringVar(&f.grants, "grants", "", "file with its grants, as in an agent file; - is stdin")
	addInputFlag(c, &f.input)
	flags.BoolVar(&f.wait, "wait", false, "wait until the agent has ended, or as a service has nothing left to do, and print its result; exit 1 when it failed")
	return c
}

type forkFlags struct {
	at            uint64
	set           []string
	grants, input string
	wait          bool
	body          api.ForkBody
}

func (f *forkFlags) run(c *cobra.Command, a *app, id string) error {
	if f.at == 0 {
		return tell.Usage("omni log --agent "+id+" lists the records of the agent, with their busSeq", "say with --at SEQ from where")
	}
	f.body.At = f.at
	if err := f.read(c); err != nil {
		return err
	}
	connection, err := a.connect()
	if err != nil {
		return err
	}
	defer connection.Close()
	return f.fork(c.Context(), a, connection, id)
}

func (f *forkFlags) fork(ctx context.Context, a *app, connection *client.Client, id string) error {
	done, err := connection.ForkAgent(ctx, id, f.body)
	if err != nil {
		return err
	}
	if !f.wait {
		return a.tell.Data(done, func(p *tell.Page) { show.Done(p, "forked", done) })
	}
	a.tell.Say("forked %s, waiting for its end", done.AgentID)
	return a.await(ctx, connection, done)
}

// read takes the flags that hold documents.
func (f *forkFlags) read(c *cobra.Command) (err error) {
	for _, pair := range f.set {
		key, text, found := strings.Cut(pair, "=")
		if !found || key == "" {
			return tell.Usage(`for example --set plan='"the other"'`, "--set %s is not KEY=JSON", pair)
		}
		v, problem := value.FromJSON([]byte(text), maxInputBytes)
		if problem != nil {
			return tell.Usage(`text wants quotes of its own: --set `+key+`='"text"'`, "--set %s: the value is no JSON: %s", key, problem)
		}
		if f.body.Set == nil {
			f.body.Set = make(map[string]value.Raw)
		}
		if _, twice := f.body.Set[key]; twice {
			return tell.Usage("", "--set %s is given twice", key)
		}
		f.body.Set[key] = v
	}
	if c.Flags().Changed("grants") {
		set, err := readGrants(f.grants, c.InOrStdin())
		if err != nil {
			return err
		}
		grants := set.Grants()
		f.body.Grants = &grants
	}
	f.body.Input, err = readInput(c, f.input)
	return err
}
