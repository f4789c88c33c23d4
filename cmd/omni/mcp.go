package main

import (
	"errors"
	"io"
	"net"
	"os"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/mcpserver"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
)

const (
	mcpTokenVariable = "OMNI_MCP_TOKEN"
	minMCPToken      = 16 // bytes
)

// mcpFlags are those of omni mcp.
type mcpFlags struct {
	http     string
	readOnly bool
	remote   bool
	hosts    []string
}

func newMCPCommand(a *app) *cobra.Command {
	var f mcpFlags
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Offer the cluster's agents to an MCP client",
		Long: `A server of the Model Context Protocol: programs that speak it, such as editors and
assistants, start agents, look at them, wait for them, send to them, and decide what
they ask for (docs/mcp.md). It does what the other commands do, with the same flags and
the same rights, and no more.

Without --http it speaks over stdin and stdout: the client starts it, and ends it. With
--http it serves any number of clients at http://ADDR/mcp until Ctrl-C. Whoever reaches
that address can do what this command can; so it is an address of this machine only, or
with --allow-remote any, and then requests must bear the token in $` + mcpTokenVariable + `.`,
		Example: `  omni mcp
  omni mcp --read-only --server http://10.0.0.1:7700
  omni mcp --http 127.0.0.1:7790`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			door, err := f.door()
			if err != nil {
				return err
			}
			kernel, err := a.connect()
			if err != nil {
				return err
			}
			defer kernel.Close()
			server := mcpserver.New(kernel, mcpserver.Options{
				Version: thisBuild().Version, ReadOnly: f.readOnly,
				Panicked: func(tool string, cause any, stack []byte) { a.tell.Say("%s panicked: %v\n%s", tool, cause, stack) },
			})
			if f.http == "" {
				return server.Stdio(c.Context(), io.NopCloser(c.InOrStdin()), outOnly{a.tell.Raw()})
			}
			listener, err := f.listen()
			if err != nil {
				return err
			}
			a.tell.Say("MCP at http://%s%s, until Ctrl-C", listener.Addr(), mcpserver.Path)
			return server.Serve(c.Context(), listener, door)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.http, "http", "", "serve HTTP at this address, such as 127.0.0.1:7790, instead of stdin and stdout")
	flags.BoolVar(&f.readOnly, "read-only", false, "only tools that change nothing")
	flags.BoolVar(&f.remote, "allow-remote", false, "with --http: let the address be one that other machines reach; $"+mcpTokenVariable+" must be set")
	flags.StringArrayVar(&f.hosts, "allow-host", nil, "with --http: a name that requests may be for, beside the address itself; repeatable")
	return c
}

// door checks the flags that go together.
func (f *mcpFlags) door() (mcpserver.Door, error) {
	token := os.Getenv(mcpTokenVariable)
	switch {
	case f.http == "" && (f.remote || len(f.hosts) > 0):
		return mcpserver.Door{}, tell.Usage("add --http ADDR", "--allow-remote and --allow-host are about HTTP")
	case f.http != "" && token != "" && len(token) < minMCPToken:
		return mcpserver.Door{}, tell.Usage("for example one of: openssl rand -hex 16", "$%s has %d bytes, must have at least %d", mcpTokenVariable, len(token), minMCPToken)
	case f.remote && token == "":
		return mcpserver.Door{}, tell.Usage("for example one of: openssl rand -hex 16", "--allow-remote needs a token in $%s: whoever reaches the address can do what you can", mcpTokenVariable)
	}
	return mcpserver.Door{Hosts: f.hosts, Token: token}, nil
}

// listen opens the address. One that other machines reach is closed before anybody is
// accepted, unless that was asked for.
func (f *mcpFlags) listen() (net.Listener, error) {
	listener, err := net.Listen("tcp", f.http)
	if err != nil {
		return nil, tell.Refused("choose a free address of this machine with --http", "cannot listen at %s: %v", f.http, err)
	}
	if at, ok := listener.Addr().(*net.TCPAddr); !f.remote && (!ok || !at.IP.IsLoopback()) {
		return nil, errors.Join(tell.Usage("such as 127.0.0.1:7790; or add --allow-remote, with a token in $"+mcpTokenVariable,
			"--http is %q, which other machines reach", f.http), listener.Close())
	}
	return listener, nil
}

// outOnly is stdout, which stays open for what else there is to say.
type outOnly struct{ io.Writer }

// Close implements io.Closer.
func (outOnly) Close() error { return nil }
