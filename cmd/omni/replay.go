package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/history"
	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/replay"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newReplayCommand(a *app) *cobra.Command {
	r := &replaying{app: a}
	c := &cobra.Command{
		Use:   "replay AGENT [FILE]",
		Short: "Run an agent's ticks again from the log, and compare",
		Long: `Reads the history of one agent and runs every tick again, with the results that
the log has: what a program does must depend on nothing else. Every record of every
run is compared, and every change of the agent's state is held against the lifecycle
table. No tool is called, whatever happens.

Without a file the agent's history is fetched from the cluster. A file is what omni
agent export, omni log export or omni backup create wrote; - is stdin. No cluster is
needed then.

The first record that differs ends it: both sides are printed, and the exit code
is 1. With --all every event of the log is applied to a new kernel instead, and
every block compared.

With --with-result or --with-limit it is a question: what would the agent have done
if a call had been answered otherwise, or if a tick had another budget? The tick in
which it makes a difference is followed, with the recorded results of the calls that
it makes as it did, to its end, or to the first call that was never made.`,
		Example: `  omni replay 018f4e5c-0000-7000-8000-000000000001
  omni replay 018f4e5c-0000-7000-8000-000000000001 agent.omni --from 1000 --to 2000
  omni replay --all log.bin
  omni replay 018f4e5c-0000-7000-8000-000000000001 --with-result 3.1=page.json
  omni replay 018f4e5c-0000-7000-8000-000000000001 --with-limit max_steps_per_tick=100`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(c *cobra.Command, args []string) error { return r.run(c, args) },
	}
	flags := c.Flags()
	flags.BoolVar(&r.all, "all", false, "replay the whole log, with every agent in it")
	flags.Uint64Var(&r.of.From, "from", 0, "compare from this busSeq on; what stands before is taken as it is")
	flags.Uint64Var(&r.of.To, "to", 0, "end after this busSeq; 0 is the end of the history")
	flags.StringVar(&r.node, "node", "", "ask this node only, by id or address")
	flags.StringArrayVar(&r.supposing.results, "with-result", nil,
		"TICK.CALL=FILE: what if the call had been answered with this JSON value, or {code, message}; repeatable within a tick")
	flags.StringArrayVar(&r.supposing.limits, "with-limit", nil,
		"NAME=N: what if this budget of a tick were another, such as max_steps_per_tick; repeatable")
	return c
}

// replaying is one call of omni replay.
type replaying struct {
	app   *app
	all   bool
	of    replay.Range
	node  string
	began time.Time

	supposing supposing
}

func (r *replaying) run(c *cobra.Command, args []string) error {
	agent, file, err := r.arguments(c, args)
	if err != nil {
		return err
	}
	change, err := r.supposing.change(c.InOrStdin())
	if err != nil {
		return err
	}
	from, err := r.open(c.Context(), agent, file, c.InOrStdin())
	if err != nil {
		return err
	}
	defer from.Close()
	r.began = time.Now()
	switch {
	case r.all:
		return r.log(from)
	case r.supposing.any():
		return r.whatIf(from, agent, change)
	}
	return r.agent(from, agent)
}

func (r *replaying) arguments(c *cobra.Command, args []string) (agent, file string, err error) {
	usage := "usage: " + c.UseLine()
	switch {
	case r.all && len(args) > 1:
		return "", "", tell.Usage("usage: omni replay --all [FILE]", "--all is about every agent: %q is one argument too many", args[0])
	case r.all && (r.of != replay.Range{} || r.supposing.any()):
		return "", "", tell.Usage("leave the other flags out", "--all replays the whole log")
	case !r.all && len(args) == 0:
		return "", "", tell.Usage(usage, "AGENT is missing")
	case r.of.To != 0 && r.of.To < r.of.From:
		return "", "", tell.Usage("", "--to is %d, must not be before --from", r.of.To)
	}
	if !r.all {
		agent, args = args[0], args[1:]
		if _, ok := flows.ParseID(agent); !ok {
			return "", "", tell.Usage("see what there is with: omni agent list", "AGENT is %q, must be an agent's id", agent)
		}
	}
	if len(args) > 0 {
		file = args[0]
	}
	if file != "" && r.node != "" {
		return "", "", tell.Usage("leave --node out", "a file is read without any node")
	}
	return agent, file, nil
}

// open gives the history: of a file, or as the cluster exports it.
func (r *replaying) open(ctx context.Context, agent, file string, stdin io.Reader) (io.ReadCloser, error) {
	switch file {
	case "":
	case "-":
		return io.NopCloser(stdin), nil
	default:
		f, err := os.Open(file)
		if err != nil {
			return nil, tell.Usage("", "%v", err)
		}
		r.app.file = file
		return f, nil
	}
	var options []client.Option
	if r.node != "" {
		options = append(options, client.Node(r.node))
	}
	connection, err := r.app.connect()
	if err != nil {
		return nil, err
	}
	var body io.ReadCloser
	if r.all {
		body, err = connection.OpenExport(ctx, 0, options...)
	} else {
		body, err = connection.OpenAgentExport(ctx, agent, options...)
	}
	if err != nil {
		connection.Close()
		return nil, err
	}
	return &live{body, connection}, nil
}

// live is a stream of the cluster's.
type live struct {
	io.ReadCloser
	connection *client.Client
}

// Close ends the stream and the connection.
func (l *live) Close() error {
	err := l.ReadCloser.Close()
	l.connection.Close()
	return err
}

// agent replays one agent.
func (r *replaying) agent(from io.Reader, id string) error {
	meter := r.app.tell.Meter()
	defer meter.Done()
	var agent *replay.Agent
	make := func(no uint32, c *config.Config, find kernel.FindBody) replay.Taker {
		agent = replay.NewAgent(no, c, r.app.evaluators, find, r.of)
		return agent
	}
	origin, err := history.OfAgent(from, id, make, func(bytes uint64) {
		s := agent
		if s != nil {
			meter.Show("%s: %d ticks, %d steps", show.Bytes(bytes), s.Stats().Ticks, s.Stats().Steps)
		}
	})
	found := show.Replayed{AgentID: id, From: r.of.From, To: r.of.To}
	var states deviating
	if agent != nil {
		found.Stats(agent.Stats())
		states = deviating{state: agent.Slice().State()}
	}
	meter.Done()
	return r.answer(&found, origin, states, err)
}

// log replays a whole log.
func (r *replaying) log(from io.Reader) error {
	meter := r.app.tell.Meter()
	defer meter.Done()
	var log *replay.Log
	begin := func(o history.Origin) func(*logging.Block) error {
		log = replay.NewLog(o.KernelID, r.app.evaluators)
		return log.Block
	}
	origin, err := history.Whole(from, begin, func(bytes uint64) {
		meter.Show("%s: %d events", show.Bytes(bytes), log.Blocks())
	})
	meter.Done()
	found := show.Replayed{}
	var states deviating
	if log != nil {
		end := log.Kernel().Log()
		found.Blocks, found.Records, found.Compared = log.Blocks(), end.NextSeq-1, end.NextSeq-1
		states = deviating{state: log.Kernel().Publish()}
	}
	return r.answer(&found, origin, states, err)
}

// answer says what was found, and makes what the call comes to of the error.
func (r *replaying) answer(found *show.Replayed, origin history.Origin, states deviating, err error) error {
	found.Origin, found.ClusterID, found.KernelID = origin.Kind, origin.ClusterID, origin.KernelID
	found.Millis = time.Since(r.began).Milliseconds()
	var deviation *replay.Deviation
	switch {
	case err == nil:
		return r.app.tell.Data(found, func(p *tell.Page) { show.Replay(p, found) })
	case errors.As(err, &deviation):
		found.Deviation = states.render(deviation)
		if err := r.app.tell.Data(found, func(p *tell.Page) { show.Replay(p, found) }); err != nil {
			return err
		}
		return tell.NotHeld("%v", err)
	}
	return unreadable(err)
}

// unreadable makes a failed check of a history that cannot be read.
func unreadable(err error) error {
	var broken *logexport.Broken
	var damaged *backup.Broken
	var newer *backup.NewerError
	var partial *backup.PartialError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, replay.ErrNoAgent):
		return &tell.Problem{Exit: 1, Code: tell.CodeRefused, Message: err.Error(), Hint: "see what there is with: omni agent list"}
	case errors.Is(err, replay.ErrNoRun):
		return tell.Refused("see what there is with: omni run list", "%v", err)
	case errors.Is(err, history.ErrKind), errors.Is(err, history.ErrPart):
		return tell.Usage("make one with: omni agent export, omni run ledger --export, omni log export or omni backup create", "%v", err)
	case errors.As(err, &partial):
		return tell.Refused("make one on a node with the archive: omni backup create --node ID", "%v", partial)
	case errors.As(err, &broken), errors.As(err, &damaged), errors.As(err, &newer),
		errors.Is(err, kernel.ErrSlice), errors.Is(err, replay.ErrLog), errors.Is(err, replay.ErrLedger), errors.Is(err, history.ErrOtherRun):
		return tell.NotHeld("%v", err)
	}
	return fmt.Errorf("read the history: %w", err)
}
