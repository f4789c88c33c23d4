package main

import (
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/omnikernel/omnikernel/cmd/omni/dev"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// app is what the commands of one call share.
type app struct {
	tell       *tell.Teller
	evaluators flows.Lookup // the evaluators that a server knows
	entered    bool         // a command's own code has begun
	file       string       // that the command reads, so that a failure can name it

	output  string
	servers []string
	dataDir string
	kernel  string
	timeout time.Duration

	credentials credentials
	bearer      bearer
}

const (
	defaultServer  = "http://127.0.0.1:7700"
	defaultSecured = "https://127.0.0.1:7700"
	defaultTimeout = 30 * time.Second
	serverVariable = "OMNI_SERVER"
)

func (a *app) addFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&a.output, "output", "o", string(tell.Text), "text or json")
	flags.StringArrayVar(&a.servers, "server", nil,
		"address of a node's API; repeatable (or $"+serverVariable+", comma-separated; else "+defaultServer+")")
	flags.StringVar(&a.dataDir, "data-dir", "", "talk to the dev cluster in this directory")
	flags.StringVar(&a.kernel, "kernel", api.DefaultKernel, "kernel id")
	a.credentials.add(flags)
	a.bearer.add(flags)
	flags.DurationVar(&a.timeout, "timeout", defaultTimeout, "how long to try before giving up")
}

// enter runs before every command, after its flags and arguments were parsed.
func (a *app) enter() error {
	switch format := tell.Format(a.output); format {
	case tell.Text, tell.JSON:
		a.tell.Format = format
	default:
		return tell.Usage("-o text or -o json", "output is %q, must be text or json", a.output)
	}
	if a.timeout <= 0 {
		return tell.Usage("", "timeout is %v, must be positive", a.timeout)
	}
	return nil
}

// connect makes the client of the cluster that the call speaks of. Nothing is
// asked yet.
func (a *app) connect() (*client.Client, error) {
	token, err := a.bearer.read()
	if err == nil && token == "" && a.dataDir != "" && len(a.servers) == 0 {
		token, err = dev.Token(a.dataDir)
	}
	if err != nil {
		return nil, err
	}
	return a.connectWith(token)
}

func (a *app) connectWith(token string) (*client.Client, error) {
	servers, err := a.addresses()
	if err != nil {
		return nil, err
	}
	secured, err := a.credentials.config()
	if err != nil {
		return nil, err
	}
	return client.New(servers, client.Options{Kernel: a.kernel, Timeout: a.timeout, TLS: secured, Token: token})
}

// addresses lists the APIs to talk to: the flags say it before the environment
// does.
func (a *app) addresses() ([]string, error) {
	if len(a.servers) > 0 {
		return a.servers, nil
	}
	if a.dataDir != "" {
		f, err := dev.ReadFile(a.dataDir)
		if err != nil {
			return nil, err
		}
		return f.APIs(), nil
	}
	var servers []string
	for server := range strings.SplitSeq(os.Getenv(serverVariable), ",") {
		if server = strings.TrimSpace(server); server != "" {
			servers = append(servers, server)
		}
	}
	if len(servers) == 0 {
		servers = []string{defaultServer}
		if a.credentials.named() != (credentials{}) {
			servers = []string{defaultSecured}
		}
	}
	return servers, nil
}

// exactly is the rule on arguments of a command: their names, in order.
func exactly(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return tell.Usage("usage: "+c.UseLine(), "%s is missing", names[len(args)])
		case len(args) > len(names):
			return tell.Usage("usage: "+c.UseLine(), "%q is one argument too many", args[len(names)])
		}
		return nil
	}
}

// onlySubcommands is the rule on arguments of a command that only groups
// others.
func onlySubcommands(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	c.SuggestionsMinimumDistance = 2
	hint := c.CommandPath() + " --help"
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + c.CommandPath() + " " + near[0] + "? " + hint
	}
	return tell.Usage(hint, "unknown command %q for %q", args[0], c.CommandPath())
}
