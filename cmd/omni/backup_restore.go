package main

import (
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/raftstore"
	"github.com/omnikernel/omnikernel/cluster/restore"
	"github.com/omnikernel/omnikernel/cmd/omni/dev"
	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/fsm/backup"
)

// restoring is a restore as its flags give it. They are those of omni server, so
// that one command line serves for both.
type restoring struct {
	cluster, node, dataDir, store string
	peers                         []string
	dev                           bool
	nodes                         int
}

func newBackupRestore(a *app) *cobra.Command {
	var f restoring
	c := &cobra.Command{
		Use:   "restore FILE --cluster ID --data-dir DIR --peer ID=RAFT=APIURL … [--node ID]",
		Short: "Make a new cluster from a backup",
		Long: `Writes the data directories in which the nodes of a new cluster start; - is stdin.
With --node it is that node's, and DIR itself: run it once on each machine, with the
same file and the same peers. Without, every peer gets DIR/ID. The flags are those of
omni server. With --dev DIR is one for omni dev.

The new cluster has another id, and is a cluster of its own: its first leader writes
down what was restored, and the log goes on from there. Agents go on where the backup
has them, by today's clock: what was due meanwhile is due at once. Calls that were
being made and must not be made twice end with OUTCOME_UNKNOWN.

Everything is checked while it is written, as by omni backup verify --deep; without
--deep where the backup has only digests of what was archived, and it says so. A directory
that holds anything is refused; a restore that is cut short leaves nothing that starts.`,
		Example: `  omni backup restore omni.omniback --dev --data-dir ~/restored && omni dev --data-dir ~/restored
  omni backup restore omni.omniback --cluster omni-2 --node n1 --data-dir /var/lib/omni \
      --peer n1=10.0.0.1:7800=http://10.0.0.1:7700 \
      --peer n2=10.0.0.2:7800=http://10.0.0.2:7700 \
      --peer n3=10.0.0.3:7800=http://10.0.0.3:7700`,
		Args: exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			plan, file, err := f.plan()
			if err != nil {
				return err
			}
			from, err := a.openBackup(args[0], c.InOrStdin())
			if err != nil {
				return err
			}
			defer from.Close()
			progress, done := a.progressOf()
			plan.Progress = progress
			report, err := restore.Run(c.Context(), from, plan)
			done()
			if err != nil {
				return aboutBackup(err)
			}
			return a.tell.Data(report, func(p *tell.Page) { show.Restored(p, report, f.next(report, plan.Peers, file)) })
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.cluster, "cluster", "", "the new cluster's id; not the old one's")
	flags.StringVar(&f.dataDir, "data-dir", "", "where the data directories shall be, or the one of --node")
	flags.StringArrayVar(&f.peers, "peer", nil, "ID=RAFT=APIURL of a node of the new cluster, once for each")
	flags.StringVar(&f.node, "node", "", "only this node's directory")
	flags.StringVar(&f.store, "store", "bolt", "the Raft log's store: bolt or wal")
	flags.BoolVar(&f.dev, "dev", false, "a directory for omni dev: ids and ports are made")
	flags.IntVar(&f.nodes, "nodes", 0, "with --dev: how many nodes, 1 to 9 (default 3)")
	cobra.CheckErr(c.MarkFlagRequired("data-dir"))
	return c
}

// plan is what the flags ask for; with --dev the file that omni dev needs, too.
func (f *restoring) plan() (plan restore.Plan, file *dev.File, err error) {
	plan = restore.Plan{ClusterID: f.cluster, Dir: f.dataDir, Node: f.node, Store: raftstore.Kind(f.store)}
	if f.dev {
		return f.forDev(plan)
	}
	switch {
	case f.cluster == "":
		return plan, nil, tell.Usage("--cluster ID, or --dev for a cluster on this machine", "--cluster is missing: the new cluster needs an id of its own")
	case f.nodes != 0:
		return plan, nil, tell.Usage("list the nodes with --peer", "--nodes goes with --dev only")
	}
	if plan.Peers, err = peerList(f.peers); err != nil {
		return plan, nil, tell.Usage("", "%v", err)
	}
	return plan, nil, nil
}

func (f *restoring) forDev(plan restore.Plan) (restore.Plan, *dev.File, error) {
	if f.cluster != "" || f.node != "" || len(f.peers) > 0 {
		return plan, nil, tell.Usage("", "--dev makes ids and addresses by itself: leave --cluster, --node and --peer out")
	}
	// A directory of omni dev is all its own.
	if entries, err := os.ReadDir(f.dataDir); err == nil && len(entries) > 0 {
		return plan, nil, tell.Refused("name a directory that is empty, or that does not exist", "%s is not empty", f.dataDir)
	}
	options := dev.Options{Nodes: f.nodes}
	file, err := dev.Plan(options)
	if err != nil {
		return plan, nil, usageOfDev(err, options)
	}
	plan.ClusterID = file.ClusterID
	for _, node := range file.Nodes {
		plan.Peers = append(plan.Peers, cluster.Peer{ID: node.ID, Raft: node.Raft, API: node.API})
	}
	plan.Finish = func(h backup.Header) error {
		file.KernelID = h.KernelID
		return file.Write(f.dataDir)
	}
	return plan, &file, nil
}

// next are the command lines that start what was restored.
func (f *restoring) next(report restore.Report, peers []cluster.Peer, file *dev.File) (lines []string) {
	store := ""
	if f.store != string(raftstore.Bolt) {
		store = " --store " + f.store
	}
	if file != nil {
		line := "omni dev --data-dir " + f.dataDir
		if store != "" {
			line += " --" + store
		}
		return []string{line}
	}
	for _, node := range report.Nodes {
		line := "omni server --cluster " + report.ClusterID + " --node " + node.Node + " --data-dir " + node.Dir
		if report.KernelID != "default" {
			line += " --kernel " + report.KernelID
		}
		line += store
		for _, peer := range peers {
			if peer.ID == node.Node {
				line += " --raft-addr " + peer.Raft + " --api-addr " + hostOf(peer.API)
			}
		}
		for _, peer := range f.peers {
			line += " --peer " + peer
		}
		lines = append(lines, line)
	}
	return lines
}

// hostOf is host:port of an API's address.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return address
}
