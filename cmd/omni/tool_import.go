package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/httprequest"
	"github.com/omnikernel/omnikernel/cluster/tools/mcpclient"
	"github.com/omnikernel/omnikernel/cluster/tools/mcptool"
	"github.com/omnikernel/omnikernel/cmd/omni/mcpimport"
	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/transport/api"
)

// importFlags are those of omni tool import.
type importFlags struct {
	servers  string
	headers  []string
	private  bool
	dir      string
	register bool
	wait     time.Duration
	choice   mcpimport.Choice
}

func newToolImport(a *app) *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:   "import SERVER | import URL | import SERVER -- COMMAND [ARG…]",
		Short: "Make manifests of the tools of an MCP server",
		Long: `Connects to a server of the Model Context Protocol from here, asks for its tools, and
prints a manifest of each, or writes them to a directory, or registers them. SERVER is
the name of one in the file of --mcp-servers, which the nodes are started with, too; a
command after -- is one that will be there under that name.

What a server says of its tools is taken over, but for one thing: none may be called
twice unless --idempotent says so. Programs call them SERVER.TOOL, in dotted lower-case
words. Secrets of headers and of programs are looked up here as on a node.`,
		Example: `  omni tool import files --mcp-servers mcp.json
  omni tool import files --mcp-servers mcp.json --only read_text_file --register
  omni tool import https://mcp.example.com/mcp --header "Authorization: Bearer secret:TICKETS_KEY" --dir tools
  omni tool import files -- npx -y @modelcontextprotocol/server-filesystem /srv/files`,
		RunE: func(c *cobra.Command, args []string) error { return a.importTools(c, &f, args) },
	}
	flags := c.Flags()
	flags.StringVar(&f.servers, "mcp-servers", "", "file of the servers, as for omni server")
	flags.StringArrayVar(&f.headers, "header", nil, "with a URL: NAME: TEXT, which every manifest gets; a last word secret:NAME is replaced where it is sent; repeatable")
	flags.BoolVar(&f.private, "private", false, "with a URL: it may lead to addresses that are not public")
	flags.StringVar(&f.choice.Prefix, "prefix", "", "first words of the tools' names; the server's name when absent")
	flags.StringArrayVar(&f.choice.Only, "only", nil, "a tool, as the server calls it; repeatable, all when absent")
	flags.StringArrayVar(&f.choice.Idempotent, "idempotent", nil, "a tool, as the server calls it, that may be called twice; repeatable")
	flags.Int64Var(&f.choice.Timeout, "timeout-ms", 0, "how long a call may take; the kernel's default when 0")
	flags.StringVar(&f.dir, "dir", "", "directory that gets a file NAME.yaml of each, which must not be there yet")
	flags.BoolVar(&f.register, "register", false, "register them")
	flags.DurationVar(&f.wait, "wait", time.Minute, "how long the server may take to list its tools")
	return c
}

// importTools lists, makes, and hands over.
func (a *app) importTools(c *cobra.Command, f *importFlags, args []string) error {
	server, err := f.server(args, c.ArgsLenAtDash())
	if err != nil {
		return err
	}
	if f.choice.Prefix == "" {
		f.choice.Prefix = server.Name
	}
	listing, err := a.listTools(c.Context(), f, server)
	if err != nil {
		return err
	}
	f.choice.Server = server
	manifests, problem := mcpimport.Manifests(listing, f.choice)
	if problem != nil {
		return tell.Refused(problem.Hint, "%s", problem.Rule)
	}
	if err := f.check(manifests); err != nil {
		return err
	}
	if f.dir != "" {
		if err := a.writeManifests(f.dir, manifests); err != nil {
			return err
		}
	}
	switch {
	case f.register:
		return a.registerAll(c.Context(), manifests)
	case f.dir != "":
		return nil
	}
	return a.tell.Data(manifests, func(p *tell.Page) {
		for i := range manifests {
			text, err := mcpimport.YAML(&manifests[i])
			if err != nil {
				panic("a manifest that was checked cannot be written: " + err.Error())
			}
			if i > 0 {
				p.Line("---")
			}
			p.Line("%s", strings.TrimRight(string(text), "\n"))
		}
	})
}

// server is the one that the arguments name.
func (f *importFlags) server(args []string, dash int) (mcpclient.Server, error) {
	const usage = "for example: omni tool import files --mcp-servers mcp.json"
	var none mcpclient.Server
	switch {
	case len(args) == 0 || dash == 0:
		return none, tell.Usage(usage, "SERVER is missing")
	case dash < 0 && len(args) > 1:
		return none, tell.Usage("a command comes after --", "%q is one argument too many", args[1])
	case dash > 1 || dash == len(args):
		return none, tell.Usage("for example: omni tool import files -- npx -y server-filesystem", "what is imported is one name, then -- and its command")
	}
	name := args[0]
	if rule := mcptool.URLRule(name); rule == "" && dash < 0 {
		return f.atURL(name)
	}
	switch {
	case len(f.headers) > 0 || f.private:
		return none, tell.Usage("its server says so in the file of --mcp-servers", "--header and --private are for a URL")
	case !isServerName(name):
		return none, tell.Usage(usage, "%q is no name of a server: letters, digits, _, - and dots, at most 64 bytes; and no URL", name)
	case dash == 1:
		return mcpclient.Server{Name: name, Command: args[1], Args: args[2:]}, nil
	case f.servers == "":
		return none, tell.Usage(usage, "say where %s is known: --mcp-servers FILE, or its command after --", name)
	}
	servers, err := readMCPServers(f.servers)
	if err != nil {
		return none, err
	}
	server, known := servers[name]
	if !known {
		return none, tell.Usage("", "%s has no server %s", f.servers, name)
	}
	return server, nil
}

func (f *importFlags) atURL(url string) (mcpclient.Server, error) {
	server := mcpclient.Server{URL: url, Private: f.private}
	for _, text := range f.headers {
		name, is, ok := strings.Cut(text, ":")
		is = strings.TrimSpace(is)
		if !ok {
			return server, tell.Usage(`for example --header "Authorization: Bearer secret:KEY"`, "--header must be NAME: TEXT")
		}
		if rule := httprequest.HeaderRule(name, is); rule != "" {
			return server, tell.Usage("", "--header %s: %s", name, rule)
		}
		if server.Headers == nil {
			server.Headers = make(map[string]string)
		}
		server.Headers[http.CanonicalHeaderKey(name)] = is
		if _, secret, ok := httprequest.CutSecret(is); ok && !slices.Contains(f.choice.Secrets, secret) {
			f.choice.Secrets = append(f.choice.Secrets, secret)
		}
	}
	return server, nil
}

// listTools asks the server. What a program said on stderr is told when it has no
// tools to tell of.
func (a *app) listTools(ctx context.Context, f *importFlags, server mcpclient.Server) (mcpclient.Listing, error) {
	var said lastLines
	client := mcpclient.New(server, mcpOptions(hclog.New(&hclog.LoggerOptions{Output: &said, Level: hclog.Info, DisableTime: true})))
	ctx, cancel := context.WithTimeout(ctx, f.wait)
	defer cancel()
	listing, failed := client.Tools(ctx)
	client.Close()
	<-client.Done()
	if failed != nil {
		for _, line := range said.take() {
			a.tell.Say("%s", line)
		}
		return listing, tell.Refused("look at what it says, and at --header, --private and secrets", "the server does not list its tools: %s", failed.Text)
	}
	return listing, nil
}

// lastLines keeps the last of what is written to it.
type lastLines struct {
	mu    sync.Mutex // guards lines
	lines []string
}

func (l *lastLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, strings.TrimRight(string(p), "\n"))
	l.lines = l.lines[max(0, len(l.lines)-20):]
	return len(p), nil
}

func (l *lastLines) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines
}

// check judges manifests as a node would, as far as that can be done here.
func (f *importFlags) check(manifests []kerneltools.Manifest) error {
	servers := map[string]mcpclient.Server{}
	if f.choice.Server.Name != "" {
		servers[f.choice.Server.Name] = f.choice.Server
	}
	registry, err := tools.New(tools.Options{Kinds: []tools.Kind{mcptool.NewKind(mcptool.Options{Servers: servers})}})
	if err != nil {
		return err
	}
	limits := config.Default()
	for i := range manifests {
		m := &manifests[i]
		refused := m.Check(limits.MaxManifestBytes, limits.MaxCallTimeoutMillis)
		if refused == nil {
			refused = registry.Check(m)
		}
		if refused == nil {
			continue
		}
		hint := "leave it out: name the others with --only"
		if refused.Field == "name" {
			hint = "choose other first words with --prefix"
		}
		return tell.Refused(hint, "%s cannot be registered: %s: %s", m.Name, refused.Field, refused.Rule)
	}
	return nil
}

// writeManifests writes a file of each. None is replaced: somebody may have changed it.
func (a *app) writeManifests(dir string, manifests []kerneltools.Manifest) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return tell.Refused("", "%s cannot be made: %s", dir, reasonOf(err))
	}
	for i := range manifests {
		text, err := mcpimport.YAML(&manifests[i])
		if err != nil {
			return err
		}
		name := filepath.Join(dir, manifests[i].Name+".yaml")
		file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if errors.Is(err, fs.ErrExist) {
			return tell.Refused("take it away, or write to another directory", "%s is there already", name)
		}
		if err != nil {
			return tell.Refused("", "%s cannot be written: %s", name, reasonOf(err))
		}
		_, err = file.Write(text)
		if err = errors.Join(err, file.Close()); err != nil {
			return tell.Refused("", "%s cannot be written: %s", name, reasonOf(err))
		}
		a.tell.Say("wrote %s", name)
	}
	return nil
}

func reasonOf(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// registerAll registers one after the other. Those that were registered before one is
// refused stay.
func (a *app) registerAll(ctx context.Context, manifests []kerneltools.Manifest) error {
	connection, err := a.connect()
	if err != nil {
		return err
	}
	defer connection.Close()
	all := make([]api.Done, 0, len(manifests))
	for i := range manifests {
		done, err := connection.RegisterTool(ctx, event.RegisterTool{Manifest: manifests[i]})
		if err != nil {
			return fmt.Errorf("%s: %w", manifests[i].Name, err)
		}
		all = append(all, done)
	}
	return a.tell.Data(all, func(p *tell.Page) {
		for i := range all {
			show.Registered(p, manifests[i].Name, all[i])
		}
	})
}
