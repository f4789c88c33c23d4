package main

import (
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/agentfile"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/evaluator/script"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

func addFileFlag(c *cobra.Command, file *string, usage string) {
	c.Flags().StringVarP(file, "file", "f", "", usage)
}

// fileInto reads a file of the shape into the command, or the part of one, that it is.
func fileInto(name string, stdin io.Reader, shape *agentfile.Shape, into any) (*agentfile.File, error) {
	f, err := agentfile.Read(name, stdin, shape)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(f.Document(), into); err != nil {
		return nil, &agentfile.Problem{File: f.Name, Rule: err.Error()}
	}
	return f, nil
}

// readAgent reads an agent file into the command that it is.
func readAgent(name string, stdin io.Reader) (*agentfile.File, event.Define, error) {
	var define event.Define
	if name == "" {
		return nil, define, tell.Usage("a short one to copy is examples/hello/agent.yaml", "name the agent's file with -f FILE")
	}
	f, err := fileInto(name, stdin, agentfile.Agent, &define)
	if err != nil {
		return nil, define, err
	}
	return f, define, scripted(f, f.Document(), "", &define)
}

// readRun reads a run file into the command that it is.
func readRun(name string, stdin io.Reader) (*agentfile.File, event.PlanRun, error) {
	var command event.PlanRun
	if name == "" {
		return nil, command, tell.Usage("one to copy is examples/run/run.yaml", "name the run's file with -f FILE")
	}
	f, err := fileInto(name, stdin, agentfile.Run, &command)
	if err != nil {
		return nil, command, err
	}
	if agent := f.JSON("agent"); agent != nil {
		return f, command, scripted(f, agent, "agent.", &command.Agent)
	}
	return f, command, nil
}

// readManifest reads the file of a tool's registration.
func readManifest(name string, stdin io.Reader) (*agentfile.File, event.RegisterTool, error) {
	var command event.RegisterTool
	if name == "" {
		return nil, command, tell.Usage("docs/tools.md has one to copy", "name the manifest's file with -f FILE")
	}
	f, err := fileInto(name, stdin, agentfile.Tool, &command.Manifest)
	return f, command, err
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

// inFile adds to a refusal of a field where the file has that field, and to one of a
// script where the file has that line of it. The server's paths begin with prefix where
// the file's do not.
func inFile(err error, f *agentfile.File, prefix string) error {
	var said *api.Error
	if f == nil || !errors.As(err, &said) || said.Field == "" {
		return err
	}
	field := strings.TrimPrefix(said.Field, prefix)
	line, column, ok := f.At(field)
	if above, isProgram := strings.CutSuffix(field, "program"); isProgram && f.Has(above+"script") {
		field = above + "script"
		line, column, ok = f.At(field)
		if inScript, inLine, is := placeIn(said.Rule); is {
			if l, c, there := f.InText(field, inScript, inLine); there {
				line, column = l, c
			}
		}
	}
	if !ok {
		return err
	}
	here := *said
	here.Field = field
	here.Message = strings.Replace(said.Message, said.Field, here.Field, 1)
	return &tell.InFile{Err: &here, File: f.Name, Line: line, Column: column}
}

// scriptPlace is how a script's refusal begins: file:line:column.
var scriptPlace = regexp.MustCompile(`^\S+?:(\d+):(\d+): `)

// placeIn finds the place in a script that a refusal's rule begins with.
func placeIn(rule string) (line, column int, ok bool) {
	found := scriptPlace.FindStringSubmatch(rule)
	if found == nil {
		return 0, 0, false
	}
	line, err := strconv.Atoi(found[1])
	if err != nil {
		return 0, 0, false
	}
	column, err = strconv.Atoi(found[2])
	return line, column, err == nil
}
