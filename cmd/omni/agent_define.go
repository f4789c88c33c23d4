package main

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/agentfile"
	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
)

func newAgentDefine(a *app) *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "define -f FILE",
		Short: "Make an agent known; it does nothing yet",
		Example: `  omni agent define -f agent.yaml
  omni agent define -f - < agent.yaml`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			f, define, err := readAgent(file, c.InOrStdin())
			if err != nil {
				return err
			}
			client, err := a.connect()
			if err != nil {
				return err
			}
			defer client.Close()
			done, err := client.Define(c.Context(), define)
			if err != nil {
				return inFile(err, f, "")
			}
			return a.tell.Data(done, func(p *tell.Page) {
				show.Done(p, "defined", done)
			})
		},
	}
	addFileFlag(c, &file, "agent file, YAML or JSON; - is stdin")
	return c
}

func addFileFlag(c *cobra.Command, file *string, usage string) {
	c.Flags().StringVarP(file, "file", "f", "", usage)
}

// readAgent reads an agent file into the command that it is.
func readAgent(name string, stdin io.Reader) (*agentfile.File, event.Define, error) {
	var define event.Define
	if name == "" {
		return nil, define, tell.Usage("a short one to copy is examples/hello/agent.yaml", "name the agent's file with -f FILE")
	}
	f, err := agentfile.Read(name, stdin, agentfile.Agent)
	if err != nil {
		return nil, define, err
	}
	if err := json.Unmarshal(f.Document(), &define); err != nil {
		return nil, define, &agentfile.Problem{File: f.Name, Rule: err.Error()}
	}
	return f, define, nil
}

// inFile adds to a refusal of a field where the file has that field. The
// server's paths begin with prefix where the file's do not.
func inFile(err error, f *agentfile.File, prefix string) error {
	var said *api.Error
	if f == nil || !errors.As(err, &said) || said.Field == "" {
		return err
	}
	line, column, ok := f.At(strings.TrimPrefix(said.Field, prefix))
	if !ok {
		return err
	}
	here := *said
	here.Field = strings.TrimPrefix(said.Field, prefix)
	here.Message = strings.Replace(said.Message, said.Field, here.Field, 1)
	return &tell.InFile{Err: &here, File: f.Name, Line: line, Column: column}
}
