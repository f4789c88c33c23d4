package main

import (
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/agentcheck"
	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

func newAgentCheck(a *app) *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "Look for what is wrong with an agent, and try it out; no cluster is needed",
		Long: `Compiles the agent with the kernel's own compilers, looks for tools that there are
not, for grants that its program needs and does not have, and for loops that only a
limit ends; then runs it on a kernel in this process, where tools are stubs: nothing
leaves the process, and the kernel's clock jumps over every wait.

A stub answers with what --stub or --stubs say, else with the least that fits the
tool's output schema. What has to be decided is approved. The exit code is 1 when
something is wrong.`,
		Example: `  omni agent check agent.yaml --input '{"name": "Ada"}'
  omni agent check agent.yaml --tools manifests --stub weather.now='{"celsius": 21}'
  omni agent check agent.yaml --stubs stubs.yaml -o json | jq .findings`,
		Args: exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			subject, err := f.subject(a, c, args[0])
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(c.Context(), a.timeout)
			defer cancel()
			report := agentcheck.Check(ctx, subject)
			if err := a.tell.Data(report, func(p *tell.Page) { show.Checked(p, report) }); err != nil {
				return err
			}
			if !report.OK {
				return tell.NotHeld("%s is not right yet", report.File)
			}
			return nil
		},
	}
	f.add(c)
	return c
}

// checkFlags are those of check.
type checkFlags struct {
	input, stubs, tools string
	stub, messages      []string
	cluster, noRun      bool
}

func (f *checkFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.input, "input", "", "JSON that the program sees as input; one that fits the agent's schema when absent")
	flags.StringArrayVar(&f.stub, "stub", nil, "TOOL=JSON: what a tool answers; repeatable, one answer after the other")
	flags.StringVar(&f.stubs, "stubs", "", "file of what tools answer, YAML or JSON")
	flags.StringArrayVar(&f.messages, "message", nil, "JSON that is in the agent's mailbox; repeatable")
	flags.StringVar(&f.tools, "tools", "", "directory with the manifests of the tools that there are")
	flags.BoolVar(&f.cluster, "cluster", false, "ask the running cluster which tools there are")
	flags.BoolVar(&f.noRun, "no-run", false, "compile and look only")
}

// subject reads all that the check is about.
func (f *checkFlags) subject(a *app, c *cobra.Command, name string) (s agentcheck.Subject, err error) {
	if s.File, s.Define, err = readAgent(name, c.InOrStdin()); err != nil {
		return s, err
	}
	if s.Input, err = readInput(c, f.input); err != nil {
		return s, err
	}
	for _, text := range f.messages {
		message, problem := value.FromJSON([]byte(text), maxInputBytes)
		if problem != nil {
			return s, tell.Usage(`for example --message '"stop"'`, "--message is no JSON value: %s", problem)
		}
		s.Messages = append(s.Messages, message)
	}
	if s.Stubs, err = f.answers(c.InOrStdin()); err != nil {
		return s, err
	}
	s.NoRun, s.AllTools = f.noRun, f.tools != "" || f.cluster
	if f.tools != "" {
		if s.Tools, err = manifestsIn(f.tools); err != nil {
			return s, err
		}
	}
	if f.cluster {
		known, err := a.registered(c.Context())
		if err != nil {
			return s, err
		}
		s.Tools = append(s.Tools, known...)
	}
	return s, nil
}

// answers are the stubs of the file, and after them those of the flags.
func (f *checkFlags) answers(stdin io.Reader) (agentcheck.Stubs, error) {
	stubs := agentcheck.Stubs{}
	if f.stubs != "" {
		read, err := agentcheck.ReadStubs(f.stubs, stdin)
		if err != nil {
			return nil, err
		}
		maps.Copy(stubs, read)
	}
	for _, text := range f.stub {
		tool, answer, problem := agentcheck.ParseStub(text)
		if problem != "" {
			return nil, tell.Usage(`for example --stub weather.now='{"celsius": 21}'`, "--stub %s", problem)
		}
		stubs[tool] = append(stubs[tool], answer)
	}
	return stubs, nil
}

// manifestsIn reads the manifests of a directory.
func manifestsIn(directory string) (all []*tools.Manifest, err error) {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil, tell.Usage("name a directory with manifests", "--tools: %v", err)
	}
	limits := config.Default()
	for _, entry := range entries {
		if !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(entry.Name())) {
			continue
		}
		f, command, err := readManifest(filepath.Join(directory, entry.Name()), nil)
		if err != nil {
			return nil, err
		}
		m := &command.Manifest
		if r := m.Check(limits.MaxManifestBytes, limits.MaxCallTimeoutMillis); r != nil {
			return nil, problemAt(f, r.Field, r.Rule)
		}
		all = append(all, m)
	}
	return all, nil
}

// registered asks the cluster for the manifests of its tools.
func (a *app) registered(ctx context.Context) (all []*tools.Manifest, err error) {
	connection, err := a.connect()
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	for after := ""; ; {
		page, err := connection.Tools(ctx, api.ToolQuery{After: after})
		if err != nil {
			return nil, err
		}
		for i := range page.Tools {
			tool, err := connection.Tool(ctx, page.Tools[i].Name)
			if err != nil {
				return nil, err
			}
			all = append(all, &tool.Manifest)
		}
		if after = page.Next; after == "" {
			return all, nil
		}
	}
}
