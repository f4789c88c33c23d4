package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/dev"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
)

const defaultAPIPort = 7700

func newDevCommand(a *app) *cobra.Command {
	var options dev.Options
	c := &cobra.Command{
		Use:   "dev [-- SERVER-FLAGS]",
		Short: "Run a cluster on this machine until Ctrl-C",
		Long: `Starts omni server processes with real disks, their APIs on consecutive ports of
127.0.0.1, without TLS, and keeps them running: one that dies is started again after 2 s.
Who runs where stands in DIR/dev.json, their output in DIR/n1.log and so on.

With --data-dir the cluster is there again the next time; without, it lives in a
temporary directory that is removed at the end. What follows -- is handed to
every omni server.

Authorization may be turned on, with the token in DIR/admin.token:
omni auth bootstrap --data-dir DIR --out DIR/admin.token. Commands with --data-dir DIR
take it from there when they are given none, and so does omni dev itself.`,
		Example: `  omni dev
  omni dev --nodes 5 --data-dir ~/omni --api-port 8800`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && c.ArgsLenAtDash() != 0 {
				return tell.Usage("flags for the servers come after --", "%q is one argument too many", args[0])
			}
			options.ServerFlags = args
			token, err := a.bearer.read()
			if err != nil {
				return err
			}
			options.KernelID, options.Token = a.kernel, token
			options.Talk = func(sentence string) { a.tell.Say("%s", sentence) }
			cluster, err := dev.Start(c.Context(), options)
			if err != nil {
				return usageOfDev(err, options)
			}
			banner(a.tell, cluster, options.DataDir == "")
			cluster.WatchHistory(c.Context())
			a.tell.Say("stopping")
			return cluster.Stop()
		},
	}
	flags := c.Flags()
	flags.IntVar(&options.Nodes, "nodes", 0, "how many nodes, 1 to 9 (default 3, or as many as the directory has)")
	flags.StringVar(&options.DataDir, "data-dir", "", "where everything is kept; a temporary directory when not given")
	flags.IntVar(&options.APIPort, "api-port", defaultAPIPort, "port of the first node's API; 0 takes any free ones")
	return c
}

// usageOfDev tells flags that make no sense from a cluster that cannot start.
func usageOfDev(err error, options dev.Options) error {
	if problem := options.Check(); problem != nil {
		return tell.Usage("omni dev --help", "%v", problem)
	}
	return err
}

// banner says what runs where and what to do next: with -o json what dev.json
// says, once.
func banner(t *tell.Teller, cluster *dev.Cluster, temporary bool) {
	file := cluster.File()
	if t.IsJSON() {
		_ = t.Data(struct {
			DataDir string `json:"data_dir"`
			dev.File
		}{cluster.Dir(), file}, nil)
		return
	}
	t.SayPage(func(p *tell.Page) {
		p.Line("%s", p.Bold("Omni Kernel runs on this machine."))
		p.Line("")
		for _, node := range file.Nodes {
			p.Line("  %s  %s", node.ID, p.Accent(node.API))
		}
		keep := cluster.Dir()
		if temporary {
			keep += p.Faint(" (temporary)")
		}
		p.Line("  data %s", keep)
		p.Line("  %s", p.Faint("without TLS: the nodes listen on this machine's loopback interface only"))
		p.Line("")
		p.Line("In another terminal:")
		p.Line("")
		if len(file.Nodes) > 0 && file.Nodes[0].API != defaultServer {
			p.Line("  %s", p.Accent("export "+serverVariable+"="+strings.Join(file.APIs(), ",")))
		}
		p.Line("  %s", p.Accent("omni cluster status"))
		p.Line("  %s", p.Accent("omni agent start -f agent.yaml --wait"))
		p.Line("  %s", p.Accent("omni drill kill-leader --data-dir "+cluster.Dir()))
		p.Line("")
		p.Line("%s", p.Faint("The API describes itself at "+file.Nodes[0].API+"/openapi.json. Ctrl-C stops everything."))
	})
}
