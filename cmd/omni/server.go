package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/cluster/lineage"
	"github.com/omnikernel/omnikernel/cluster/logsink"
	"github.com/omnikernel/omnikernel/cluster/metrics"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/cluster/raftstore"
	"github.com/omnikernel/omnikernel/cluster/supervise"
	"github.com/omnikernel/omnikernel/cluster/survivor"
	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/echo"
	"github.com/omnikernel/omnikernel/cluster/tools/httprequest"
	"github.com/omnikernel/omnikernel/fsm"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/identity"
	"github.com/omnikernel/omnikernel/transport/raftstream"
	"github.com/spf13/cobra"
)

// stopWithin bounds a graceful stop beside its drain: leadership handed over, logs
// closed.
const stopWithin = 10 * time.Second

// serverFlags is one node's configuration, as its flags give it, and what the
// program was built with.
type serverFlags struct {
	node, cluster, kernel string
	dataDir               string
	apiAddr, raftAddr     string
	peers                 []string
	store                 string
	timing                int
	crashFast             bool
	historyRate           uint32 // MiB a second
	historyMax            uint32
	archiveDir            string
	archiveMax            uint64
	snapshotBytes         uint64
	trailingLogs          uint64
	segmentBytes          uint64
	kernelLimits          []string // NAME=N
	backupDir             string
	backupEvery           time.Duration
	backupKeep            int
	backupRate            uint32 // MiB a second
	logLevel              string
	logFormat             string
	tls                   serverTLS
	otlp                  string
	pprofAddr             string
	policy                nodestate.Policy
	drain                 time.Duration
	minFree               uint32 // MiB
	mcpServers            string
	maxKernelVersion      uint32
	programs              programs
	limits                doorFlags
	door                  door // what limits come to
	evaluators            flows.Lookup
	shown                 shownConfig
	joining
	removeDead time.Duration
}

func newServerFlags(a *app) *serverFlags {
	return &serverFlags{evaluators: a.evaluators, joining: joining{app: a}}
}

func newServerCommand(a *app) *cobra.Command {
	f := newServerFlags(a)
	cmd := &cobra.Command{
		Use:   "server --node ID --data-dir DIR --api-addr HOST:PORT --raft-addr HOST:PORT --peer ID=RAFT=APIURL …",
		Short: "Run one node of a cluster",
		Long: `Run one node of a cluster, in the foreground.

Every node of a new cluster is given the same list of --peer, itself included: the
first members and where they are. Who the members are later is the cluster's own
knowledge; a node joins it with --join, which omni cluster join explains. A node keeps everything in its data
directory, which belongs to one node of one cluster for ever.

A start that fails for a reason that may pass, such as a port that is still
taken, is tried again: see --start-attempts. What became of every start is in
the node's journal: omni node journal. A node that was suspended comes back
suspended.

SIGTERM or Ctrl-C stops it gracefully: leadership is handed over first.`,
		Example: `  omni server --node n1 --data-dir /var/lib/omni --api-addr 127.0.0.1:7700 --raft-addr 127.0.0.1:7800 \
      --peer n1=127.0.0.1:7800=http://127.0.0.1:7700 \
      --peer n2=127.0.0.1:7801=http://127.0.0.1:7701 \
      --peer n3=127.0.0.1:7802=http://127.0.0.1:7702`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.shown = shown(cmd.Flags())
			return runServer(cmd.Context(), *f)
		},
	}
	f.addFlags(cmd)
	cmd.Flags().StringSliceVar(&f.join, "join", nil, "API address of a running cluster that takes this node in, as omni cluster join has it")
	return cmd
}

func (f *serverFlags) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.apiURL, "api-url", "", "of a node that joins: where others reach its API; http://API-ADDR when empty")
	flags.BoolVar(&f.learner, "learner", false, "of a node that joins: it stays a learner until it is promoted")
	flags.StringVar(&f.replace, "replace", "", "of a node that joins: the member that is removed once this one votes")
	flags.DurationVar(&f.removeDead, "remove-dead-after", 0, "how long a member may not answer before the leader removes it for ever, as long as three voters are left; 0 removes nobody")
	flags.StringVar(&f.node, "node", "", "this node's id, one of the peers'")
	flags.StringVar(&f.cluster, "cluster", "omni", "the cluster's id; nodes of another cluster are refused")
	flags.StringVar(&f.kernel, "kernel", "default", "the kernel's id")
	flags.StringVar(&f.dataDir, "data-dir", "", "where the node keeps everything")
	flags.StringVar(&f.apiAddr, "api-addr", "127.0.0.1:7700", "where the HTTP API listens")
	flags.StringVar(&f.raftAddr, "raft-addr", "127.0.0.1:7800", "where the other nodes' connections are taken; they find this one where its --peer says")
	flags.StringArrayVar(&f.peers, "peer", nil, "ID=RAFT=APIURL of a node, once for each")
	flags.StringVar(&f.store, "store", "bolt", "the Raft log's store: bolt or wal")
	flags.IntVar(&f.timing, "timing", 1, "multiplier of all Raft times, 1 to 10, for slow or loaded machines")
	flags.BoolVar(&f.crashFast, "crash-fast", true, "elect at once when the leader's process is gone and its host lives")
	flags.Uint32Var(&f.historyMax, "history-max-rate", 0, "MiB a second of missing history that are fetched at most; 0 is as fast as it goes")
	flags.Uint32Var(&f.historyRate, "history-rate", cluster.DefaultHistoryRate>>20, "the same while commands are under way")
	flags.Uint64Var(&f.snapshotBytes, "snapshot-bytes", 64<<20, "how much the Raft log grows before a snapshot is taken, or twice the last snapshot if that is more")
	flags.Uint64Var(&f.trailingLogs, "trailing-logs", 32_768, "entries that the Raft log keeps behind a snapshot, for nodes that were away")
	flags.Uint64Var(&f.segmentBytes, "segment-bytes", config.Default().SegmentBytes, "of a new cluster: where the files of the execution log are cut")
	flags.StringArrayVar(&f.kernelLimits, "limit", nil, "of a new cluster: NAME=N, such as max_agents=5000, once for each; docs/limits.md has the names")
	flags.StringVar(&f.backupDir, "backup-dir", "", "where the node puts backups by itself; nowhere when empty")
	flags.DurationVar(&f.backupEvery, "backup-every", time.Hour, "how often, if anything happened")
	flags.IntVar(&f.backupKeep, "backup-keep", 24, "how many of its own stay there; the oldest make room")
	flags.Uint32Var(&f.backupRate, "backup-rate", cluster.DefaultBackupRate>>20, "MiB a second of backups that are read while commands are under way, those by the clock and those that are asked for")
	flags.StringVar(&f.archiveDir, "archive-dir", "", "where the full files of archived log segments go; beside the log when empty")
	flags.Uint64Var(&f.archiveMax, "archive-max", 0, "MiB of the archive that are kept, the oldest files going first; 0 keeps all")
	addPolicyFlags(flags, &f.policy)
	flags.Uint32Var(&f.minFree, "min-free", 256, "MiB that must be free where the node keeps everything, or a tenth of a smaller disk, for it to be healthy; 0 does not look")
	flags.DurationVar(&f.drain, "drain", 5*time.Second, "how long a stop waits for tool calls that are under way")
	flags.Uint32Var(&f.maxKernelVersion, "max-kernel-version", config.Version, "hold the cluster at this kernel version until the node is started without it; what it has risen to stays")
	flags.StringVar(&f.mcpServers, "mcp-servers", "", "file of the MCP servers that tools may name: {\"mcpServers\": {NAME: {\"command\": …} or {\"url\": …}}}")
	f.programs.add(flags)
	f.limits.add(flags)
	flags.StringVar(&f.logLevel, "log-level", "info", "trace, debug, info, warn or error")
	flags.StringVar(&f.logFormat, "log-format", "text", "of the node's own log, on stderr: text, or json for one object a line")
	flags.StringVar(&f.pprofAddr, "pprof-addr", "", "where Go's profiles and this configuration are served, without secrets, such as 127.0.0.1:6060; nowhere when empty")
	flags.StringVar(&f.otlp, "otlp-endpoint", "", "where OpenTelemetry traces go by OTLP over HTTP, such as http://127.0.0.1:4318 (or $OTEL_EXPORTER_OTLP_ENDPOINT); nowhere when empty")
	f.tls.add(flags)
	for _, required := range []string{"node", "data-dir"} {
		cobra.CheckErr(cmd.MarkFlagRequired(required))
	}
}

// peerList reads what --peer was given.
func peerList(texts []string) ([]cluster.Peer, error) {
	peers := make([]cluster.Peer, 0, len(texts))
	for _, text := range texts {
		parts := strings.SplitN(text, "=", 3)
		if len(parts) != 3 || parts[0] == "" || parts[1] == "" || !strings.HasPrefix(parts[2], "http") {
			return nil, fmt.Errorf("--peer %q: must be ID=RAFT=APIURL, such as n1=127.0.0.1:7800=http://127.0.0.1:7700", text)
		}
		peers = append(peers, cluster.Peer{ID: parts[0], Raft: parts[1], API: parts[2]})
	}
	return peers, nil
}

func runServer(ctx context.Context, f serverFlags) error {
	peers, err := f.members(ctx)
	if err != nil {
		return err
	}
	if f.logFormat != "text" && f.logFormat != "json" {
		return fmt.Errorf("--log-format: %q is none: text or json", f.logFormat)
	}
	if f.door, err = f.limits.door(f.apiAddr, peers); err != nil {
		return err
	}
	sink := logsink.New(os.Stderr)
	defer lastWords(sink)
	logger := hclog.New(&hclog.LoggerOptions{Name: f.node, Level: hclog.LevelFromString(f.logLevel), Output: sink, JSONFormat: f.logFormat == "json"})
	secured, err := f.tls.open(f.cluster, f.node, logger)
	if err != nil {
		return err
	}
	if err := f.checkExposure(ctx, secured != nil, peers, logger); err != nil {
		return err
	}
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	defer signal.Stop(reload)
	if err := serveProfiles(f.pprofAddr, f.shown, logger); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	fatal := make(chan error, 1)
	f.programs.prepare(f.dataDir, logger)
	c, invalid := f.config(peers, logger, fatal)
	c.Drain, c.MinFree, c.LogBlocked = f.drain, uint64(f.minFree)<<20, sink.Blocked
	if c.Metrics, err = processMetrics(sink); err != nil {
		return err
	}
	watchCertificates(c.Metrics, secured)
	if c.Traces, err = f.tracesTo(); err != nil {
		return err
	}
	life, err := beginLife(&c, f.policy, invalid)
	if err != nil {
		return err
	}
	var s *standing
	err = life.start(ctx, func() (err error) {
		if err = f.programs.open(); err != nil {
			return err
		}
		if s, err = f.open(c, secured); err == nil {
			s.answer(life, reload)
		}
		return err
	}, func() (stop func()) { return f.tell(c, secured) })
	if err == nil && s != nil {
		err = s.serveJoining(ctx, &f, &c, life, fatal)
	}
	if err = life.end(errors.Join(err, f.programs.close())); err != nil || !life.again {
		return err
	}
	logger.Info("starting anew")
	lastWords(sink)
	return execAgain()
}

// lastWords gives the log output a moment for what is left.
func lastWords(sink *logsink.Sink) {
	ctx, cancel := context.WithTimeout(context.Background(), keptWithinFatal)
	defer cancel()
	sink.Close(ctx)
}

// served is a node behind its API: one that does its part, or one that is held
// in safe mode.
type served interface {
	httpapi.Node
	Measure() metrics.Node
	HandlePeer(ctx context.Context, from string, kind byte, body []byte) ([]byte, error)
	HandleHistory(ctx context.Context, from string, kind byte, body, room []byte) ([]byte, error)
	StopBecause(ctx context.Context, why nodestate.Cause) error
}

// standing is a node that is open, with what it stands on.
type standing struct {
	node     served
	server   *httpapi.Server
	api      net.Listener
	endpoint *raftstream.Endpoint
	logger   hclog.Logger
	secured  *identity.Store // nil without TLS

	stopAPI context.CancelFunc
	apiDone <-chan struct{} // closed when the API is no longer supervised
	lost    chan error      // why it was given up
}

// open opens the ports and the node behind them: its Raft transport, its tools,
// its evaluators. When it fails nothing is left open.
func (f serverFlags) open(c cluster.Config, secured *identity.Store) (_ *standing, err error) {
	s := &standing{logger: c.Logger, secured: secured, lost: make(chan error, 1)}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.api, err = net.Listen("tcp", f.apiAddr); err != nil {
		return nil, fmt.Errorf("API address: %w: is another node running here? choose a free port with --api-addr", err)
	}
	past := survivor.Plan{Dir: f.dataDir, Kernel: f.kernel, Store: raftstore.Kind(f.store)}
	if err := survivor.Settle(past); err != nil {
		return nil, err
	}
	if c.Lineage, err = lineage.Open(f.dataDir, c.Logger.Named("lineage")); err != nil {
		return nil, err
	}
	var there whereabouts
	if s.endpoint, err = raftstream.Listen(raftstream.Options{
		Listen: f.raftAddr, Advertise: f.advertised(c.Peers), ClusterID: f.cluster, NodeID: f.node, TLS: secured, NodeAt: there.nodeAt, Lineage: c.Lineage, Logger: c.Logger.Named("streams"),
	}); err != nil {
		return nil, fmt.Errorf("raft address: %w: choose a free port with --raft-addr", err)
	}
	streams, err := s.endpoint.Kernel(f.kernel)
	if err != nil {
		return nil, err
	}
	c.Stream, c.Calls, c.History = streams.Layer(), streams.Peers(), streams.History()
	if f.crashFast {
		c.Crash = streams
	}
	if s.node, err = openNode(c); err != nil {
		return nil, err
	}
	c.Metrics.WatchNode(s.node.Measure)
	there.follow(s.node)
	streams.Peers().Handle(s.node.HandlePeer)
	streams.History().Answer(s.node.HandleHistory)
	s.server = f.serverOf(s.node, c, secured, supervise.Options{State: c.State, Logger: c.Logger})
	return s, nil
}

// tell answers, as long as a start is waited for, where the node stands. A port that
// is taken is no failure of it.
func (f serverFlags) tell(c cluster.Config, secured *identity.Store) (stop func()) {
	listener, err := net.Listen("tcp", f.apiAddr)
	if err != nil {
		return func() {}
	}
	watched := supervise.Options{State: c.State, Logger: c.Logger, Lost: func(error) {}} // the next start opens it anew
	waiting := cluster.Wait(c)
	c.Metrics.WatchNode(waiting.Measure)
	server := f.serverOf(waiting, c, secured, watched)
	ctx, quit := context.WithCancel(context.Background())
	done := supervise.Begin(ctx, watched, supervise.Component{Name: apiComponent, Required: true, Run: serveAt(server, listener)})
	return func() {
		brief, cancel := context.WithTimeout(ctx, keptWithinFatal)
		defer cancel()
		_ = server.Shutdown(brief) // what is left is cut
		quit()
		<-done
	}
}

// advertised is where the other nodes find this one, as the list of peers has it: in a
// container that is not the address that it listens at.
func (f serverFlags) advertised(peers []cluster.Peer) string {
	for _, p := range peers {
		if p.ID == f.node {
			return p.Raft
		}
	}
	return ""
}

const apiComponent = "api"

// serverOf makes a node's API, which tells of panics over requests.
func (f serverFlags) serverOf(node httpapi.Node, c cluster.Config, secured *identity.Store, watched supervise.Options) *httpapi.Server {
	return httpapi.New(node, httpapi.Options{
		Lookup: f.evaluators, TLS: f.tls.api(secured), Certificates: inUse(secured), CheckTool: c.Tools.Check, CheckAnswer: tools.CheckAnswer, Metrics: c.Metrics, Logger: watched.Logger.Named("api"), Panicked: func(cause any) { watched.Caught(apiComponent, cause) },
		Rate: f.door.rate, Hosts: f.door.hosts,
	})
}

// serveAt answers on a listener until the server is shut down. When that failed, it
// listens at the same address anew.
func serveAt(server *httpapi.Server, first net.Listener) func(context.Context) error {
	address := first.Addr().String()
	return func(context.Context) (err error) {
		listener := first
		if first = nil; listener == nil {
			if listener, err = net.Listen("tcp", address); err != nil {
				return err
			}
		}
		return server.Serve(listener)
	}
}

func (s *standing) close() {
	if s.endpoint != nil {
		_ = s.endpoint.Close()
	}
	if s.api != nil {
		_ = s.api.Close()
	}
}

// openNode opens the node. One whose process ended over and over in one event is
// held instead (EV-14).
func openNode(c cluster.Config) (served, error) {
	node, err := cluster.Open(c)
	if err == nil {
		return node, nil
	}
	var cause *fsm.SafeModeError
	if !errors.As(err, &cause) {
		return nil, err
	}
	held, err := cluster.Hold(c, cause)
	if err != nil {
		return nil, err
	}
	c.Logger.Error("this node is held in safe mode", "reason", held.Healthy(), "hint", cause.Hint())
	return held, nil
}

// config is all of a node's configuration but its transport. With an error it still
// says whose it is.
func (f serverFlags) config(peers []cluster.Peer, logger hclog.Logger, fatal chan<- error) (cluster.Config, error) {
	limits := config.Default()
	limits.ClusterID, limits.KernelID, limits.SegmentBytes = f.cluster, f.kernel, f.segmentBytes
	unset := setLimits(&limits, f.kernelLimits)
	_, _ = rand.Read(limits.Seed[:]) // counts on the node that boots the cluster only
	servers, unknown := readMCPServers(f.mcpServers)
	registry, err := tools.New(tools.Options{
		MaxResultBytes: int(limits.MaxValueBytes),
		Kinds:          append(toolKinds(int(limits.MaxValueBytes), servers, logger.Named("mcp")), f.programs.kinds()...),
		Absent:         f.programs.absent(),
		OnCrash: func(tool string, cause any, stack []byte) {
			logger.Error("a tool adapter panicked", "tool", tool, "cause", cause, "stack", string(stack))
		},
	}, echo.Adapter{}, httprequest.New(httprequest.Options{Secrets: secretFromEnvironment}))
	c := cluster.Config{
		NodeID: f.node, ClusterID: f.cluster, KernelID: f.kernel, DataDir: f.dataDir, Version: thisBuild().Version, Peers: peers,
		Store: raftstore.Kind(f.store), Timing: consensus.Timing{Multiplier: f.timing},
		Raft:        consensus.Limits{SnapshotBytes: f.snapshotBytes, TrailingLogs: f.trailingLogs},
		HistoryRate: uint64(f.historyRate) << 20, HistoryMax: uint64(f.historyMax) << 20, Tools: registry,
		ArchiveDir: f.archiveDir, ArchiveBytes: f.archiveMax << 20, BackupRate: uint64(f.backupRate) << 20,
		Join: len(f.join) > 0, Learner: f.learner, RemoveDead: f.removeDead,
		MaxKernelVersion: f.maxKernelVersion,
		Evaluators:       f.evaluators, Limits: limits, Logger: logger, Wall: wallClock(f.node),
		Fatal: func(err error) {
			select {
			case fatal <- err:
			default:
			}
		},
	}
	if f.backupDir != "" {
		c.Backups = &cluster.BackupConfig{Dir: f.backupDir, Every: f.backupEvery, Keep: f.backupKeep}
	}
	if refusal := limits.Check(); refusal != nil {
		return c, wrongLimit(refusal)
	}
	return c, errors.Join(err, unknown, unset)
}

// answer begins to answer, under supervision: a listener that fails is opened
// again. New certificates are looked for, at once when reload says so.
func (s *standing) answer(l *life, reload <-chan os.Signal) {
	ctx, cancel := context.WithCancel(context.Background())
	s.stopAPI = cancel
	lost := func(err error) {
		l.ask(nodestate.Fatal, nodestate.Cause{By: "component:" + apiComponent, Text: err.Error()})
		s.lost <- err
	}
	l.state.Name(apiComponent, true)
	components := []supervise.Component{{
		Name: apiComponent, Required: true, Run: serveAt(s.server, s.api), // until it is shut down, after the node
	}}
	if s.secured != nil {
		components = append(components, supervise.Component{Name: "certificates", Run: func(ctx context.Context) error { return s.secured.Watch(ctx, reload) }})
	}
	s.apiDone = supervise.Begin(ctx, supervise.Options{State: l.state, Logger: l.logger, Lost: lost}, components...)
	s.logger.Info("serving", "api", s.api.Addr(), "kernel", s.node.KernelID(), "cluster", s.node.ClusterID())
}

// serve waits until it is told to stop, or must, and stops.
func (s *standing) serve(ctx context.Context, l *life, fatal <-chan error) error {
	defer s.close()
	var failed error
	why := nodestate.Cause{By: "signal", Text: "the process was told to stop"}
	select {
	case <-ctx.Done():
	case why = <-l.restart:
		l.again = true
	case failed = <-fatal:
		// What was detected must not be followed by anything else: no hand-over,
		// no flush. The process ends with it. A node that is no member any more stops in order.
		if !datadir.IsOver(failed) {
			return failed
		}
		why = nodestate.Cause{By: "node", Text: failed.Error()}
	case failed = <-s.lost:
		why = nodestate.Cause{By: "node", Text: failed.Error()}
	}
	s.logger.Info("stopping", "reason", why.Text)
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin+l.drain)
	defer cancel()
	err := s.node.StopBecause(stopping, why)
	err = errors.Join(failed, err, s.server.Shutdown(stopping))
	s.stopAPI()
	<-s.apiDone
	return err
}
