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
	"github.com/omnikernel/omnikernel/kernel/evaluator/script"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
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
	return f, define, scripted(f, f.Document(), "", &define)
}

// scripted makes an agent whose part of the file, which stands under prefix, has
// a script one of script/1.
func scripted(f *agentfile.File, part []byte, prefix string, define *event.Define) error {
	given, err := scriptIn(f, part, prefix, &define.Program)
	switch {
	case err != nil || !given:
		return err
	case define.Evaluator != "" && define.Evaluator != script.Name:
		return problemAt(f, prefix+"evaluator", "must be "+script.Name+" for a script, or be left out")
	}
	define.Evaluator = script.Name
	return nil
}

// scriptIn takes the script of a part of the file, if it has one, for the program.
func scriptIn(f *agentfile.File, part []byte, prefix string, program *value.Raw) (given bool, err error) {
	var has struct {
		Script *string `json:"script"`
	}
	if err := json.Unmarshal(part, &has); err != nil || has.Script == nil {
		return false, err
	}
	if len(*program) > 0 {
		return false, problemAt(f, prefix+"script", "there is a program or a script, not both")
	}
	*program = value.AppendString(nil, *has.Script)
	return true, nil
}

func problemAt(f *agentfile.File, field, rule string) error {
	problem := &agentfile.Problem{File: f.Name, Field: field, Rule: rule}
	problem.Line, problem.Column, _ = f.At(field)
	return problem
}

// ofDefinition is inFile for a command that has more than the file's definition,
// which stands under agent.
func ofDefinition(err error, f *agentfile.File) error {
	var said *api.Error
	if !errors.As(err, &said) || !strings.HasPrefix(said.Field, "agent.") {
		return err
	}
	return inFile(err, f, "agent.")
}

// inFile adds to a refusal of a field where the file has that field. The
// server's paths begin with prefix where the file's do not.
func inFile(err error, f *agentfile.File, prefix string) error {
	var said *api.Error
	if f == nil || !errors.As(err, &said) || said.Field == "" {
		return err
	}
	field := strings.TrimPrefix(said.Field, prefix)
	line, column, ok := f.At(field)
	if !ok && field == "program" {
		field = "script"
		line, column, ok = f.At(field)
	}
	if !ok {
		return err
	}
	here := *said
	here.Field = field
	here.Message = strings.Replace(said.Message, said.Field, here.Field, 1)
	return &tell.InFile{Err: &here, File: f.Name, Line: line, Column: column}
}
