package main

import (
	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/agentfile"
	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/event"
)

func newAgentSubmit(a *app) *cobra.Command {
	var file, input string
	c := &cobra.Command{
		Use:   "submit ID [-f FILE]",
		Short: "Add an instruction to an agent's queue",
		Long: `The file holds program, an instruction {kind, payload}, and input, JSON that it
sees as input; either may be left out. Without a program the agent's own runs
again. Agents with mode: service wait for instructions; a task agent takes them
while it is alive.`,
		Example: `  omni agent submit 018f4e5c-0000-7000-8000-000000000001 -f work.yaml
  omni agent submit 018f4e5c-0000-7000-8000-000000000001 --input '{"n": 7}'`,
		Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			f, command, err := readWork(c, file, input)
			if err != nil {
				return err
			}
			command.Agent = args[0]
			connection, err := a.connect()
			if err != nil {
				return err
			}
			defer connection.Close()
			done, err := connection.Submit(c.Context(), command)
			if err != nil {
				return inFile(err, f, "")
			}
			return a.tell.Data(done, func(p *tell.Page) { show.Done(p, "queued", done) })
		},
	}
	addFileFlag(c, &file, "instruction file, YAML or JSON; - is stdin")
	addInputFlag(c, &input)
	return c
}

// readWork makes the command of a file, the flag --input, or both.
func readWork(c *cobra.Command, file, input string) (*agentfile.File, event.Submit, error) {
	var command event.Submit
	if file == "" && !c.Flags().Changed("input") {
		return nil, command, tell.Usage("usage: "+c.UseLine(), "name an instruction's file with -f FILE, or give --input JSON")
	}
	var f *agentfile.File
	if file != "" {
		var err error
		if f, err = fileInto(file, c.InOrStdin(), agentfile.Work, &command); err != nil {
			return nil, command, err
		}
		if _, err := scriptIn(f, f.Document(), "", &command.Program); err != nil {
			return nil, command, err
		}
	}
	given, err := readInput(c, input)
	if err != nil {
		return nil, command, err
	}
	if given != nil && len(command.Input) > 0 {
		return nil, command, tell.Usage("give it once", "the input stands in %s and in --input", f.Name)
	}
	if given != nil {
		command.Input = given
	}
	return f, command, nil
}
