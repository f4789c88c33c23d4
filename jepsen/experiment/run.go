package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/nemesis"
	"github.com/omnikernel/omnikernel/jepsen/report"
	"github.com/omnikernel/omnikernel/jepsen/scenarios"
	"github.com/omnikernel/omnikernel/jepsen/traffic"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// Options of a run.
type Options struct {
	Scenario *scenarios.Scenario
	Seed     uint64
	Omni     string    // the program, built with the tag faultclock
	Dir      string    // of the report; it must not exist
	Again    string    // the command that runs it again
	Say      io.Writer // a line now and then about what goes on; may be nil
}

// Result is what came of a run that could be judged.
type Result struct {
	Run       report.Run
	Judgement report.Judgement
	History   *history.History
}

// run is one under way.
type run struct {
	Options
	folder *report.Folder
	record *history.Recorder
	rig    *rig
	watch  *watch
	env    *traffic.Env
	loads  []traffic.Load
	ends   []check.End
	log    []api.Record
}

// Run runs a scenario. The error says why it could not be run or judged; what the
// cluster did wrong is in the Result's verdicts. A fault that could not be made is
// an error.
func Run(ctx context.Context, o Options) (result Result, err error) {
	began := time.Now()
	r := &run{Options: o}
	version, err := exec.CommandContext(ctx, o.Omni, "version", "-o", "json").Output()
	if err != nil {
		return result, fmt.Errorf("ask %s for its version: %w", o.Omni, err)
	}
	described, err := json.Marshal(o.Scenario)
	if err != nil {
		return result, err
	}
	about := report.Run{
		Name: o.Scenario.Name, Scenario: described, Seed: o.Seed, Store: o.Scenario.Store, Flags: o.Scenario.Flags,
		Versions: report.Here(), Began: began, Again: o.Again, Nodes: nodeIDs(o.Scenario.Nodes),
	}
	about.Versions.Omni = version
	if r.folder, err = report.Create(o.Dir, about); err != nil {
		return result, err
	}
	r.record = history.NewRecorder(r.folder.History())
	failed := r.conduct(ctx)
	if err := errors.Join(failed, r.record.Close()); err != nil {
		return result, err
	}
	evidence, err := r.evidence()
	if err != nil {
		return result, err
	}
	var verdicts []check.Verdict
	for _, c := range CheckersOf(o.Scenario) {
		r.say("judging: %s", c.Name())
		verdicts = append(verdicts, check.Judge(ctx, c, evidence))
	}
	if err := errors.Join(ctx.Err(), r.folder.Finish(evidence, verdicts)); err != nil {
		return result, err
	}
	about.Took = time.Since(began)
	return Result{Run: about, Judgement: report.Judged(verdicts), History: evidence.History}, nil
}

func nodeIDs(count int) []string {
	ids := make([]string, count)
	for i := range ids {
		ids[i] = fmt.Sprintf("n%d", i+1)
	}
	return ids
}

func (r *run) say(format string, args ...any) {
	if r.Say != nil {
		fmt.Fprintf(r.Say, "%7.1fs  %s\n", float64(r.record.Now())/1e9, fmt.Sprintf(format, args...))
	}
}

// conduct does everything that needs the cluster. What it built is gone
// afterwards, whatever happened.
func (r *run) conduct(ctx context.Context) (err error) {
	r.record.Phase(history.Setup)
	work, err := os.MkdirTemp("", "jepsen-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	if r.rig, err = build(ctx, r, work); err != nil {
		return fmt.Errorf("build the lab: %w", err)
	}
	defer func() { err = errors.Join(err, r.rig.outputs(r.folder.Nodes), r.rig.close()) }()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	r.watch = startWatch(watching, r.record, r.rig.direct, r.rig.ids)
	defer r.watch.wait()
	defer stop()
	n := nemesis.New(r.rig.means(r))
	for _, f := range wanted(r.Scenario) {
		if err := n.Check(f); err != nil {
			return err
		}
	}
	if err := r.setup(ctx); err != nil {
		return err
	}
	return r.work(ctx, n)
}

// wanted are all faults that a scenario names.
func wanted(s *scenarios.Scenario) []*scenarios.Fault {
	var faults []*scenarios.Fault
	for i := range s.Mix {
		faults = append(faults, &s.Mix[i])
	}
	for i := range s.Steps {
		if f := s.Steps[i].Inject; f != nil {
			faults = append(faults, f)
		}
	}
	return faults
}

func (r *run) setup(ctx context.Context) error {
	r.env = &traffic.Env{
		Record: r.record, Client: r.rig.client, Nodes: r.rig.addresses, Seed: r.Seed, Service: r.rig.service.URL(),
	}
	for name, workers := range r.Scenario.Workloads {
		w, err := workload(name)
		if err != nil {
			return err
		}
		if err := w.Setup(ctx, r.env); err != nil {
			return fmt.Errorf("set %s up: %w", name, err)
		}
		r.loads = append(r.loads, traffic.Load{Workload: w, Workers: workers})
	}
	return nil
}

// work is the experiment itself.
func (r *run) work(ctx context.Context, n *nemesis.Nemesis) error {
	busy, end := context.WithCancel(ctx)
	defer end()
	done := make(chan struct{})
	go func() {
		defer close(done)
		traffic.Run(busy, r.env, traffic.Pace{Rate: r.Scenario.Rate}, r.loads...)
	}()
	err := r.disturb(ctx, n)
	var unwell error
	if err == nil {
		r.record.Phase(history.Heal)
		r.say("healed; every node has to serve again")
		unwell, err = r.serve(ctx)
	}
	if err == nil {
		sleep(ctx, r.Scenario.Settle)
	}
	end()
	<-done
	if err != nil {
		return err
	}
	return r.finish(ctx, unwell)
}

// finish reads what is there. With a node that is not well not everything can be
// read: what it has come to is for the checkers to say.
func (r *run) finish(ctx context.Context, unwell error) error {
	r.record.Phase(history.Final)
	r.say("%d operations done; reading what is there", r.record.Done())
	wait := alike
	if unwell != nil {
		r.say("not every node serves: %v", unwell)
		wait = 0
	}
	for _, load := range r.loads {
		if unwell != nil {
			break // it would ask every node for everything
		}
		err := load.Workload.Finish(ctx, r.env)
		for until := time.Now().Add(alike); err != nil && ctx.Err() == nil && time.Now().Before(until); {
			sleep(ctx, lookEvery) // a node may have met a damaged file, which it fetches
			err = load.Workload.Finish(ctx, r.env)
		}
		if err != nil {
			return fmt.Errorf("finish %s: %w", load.Workload.Name(), err)
		}
	}
	r.ends = ends(ctx, r.rig.direct, r.Omni, r.rig.dir, r.rig.ids, wait)
	from := slices.IndexFunc(r.ends, func(e check.End) bool { return e.Error == "" })
	if from < 0 {
		return r.folder.Log(func(func(api.Record, error) bool) {})
	}
	return r.folder.Log(r.read(ctx, r.ends[from].Node))
}

// read reads the log as a node holds it, and keeps it.
func (r *run) read(ctx context.Context, node string) iter.Seq2[api.Record, error] {
	return func(yield func(api.Record, error) bool) {
		for record, err := range r.rig.direct.Records(ctx, api.LogQuery{From: 1}, client.Node(node), client.Consistency(api.Stale), client.Timeout(alike)) {
			r.log = append(r.log, record)
			if !yield(record, err) {
				return
			}
		}
	}
}

// serve waits until every node serves again, or says which do not.
func (r *run) serve(ctx context.Context) (unwell, err error) {
	limited, cancel := context.WithTimeout(ctx, check.ServeAgain)
	defer cancel()
	return traffic.Probe(limited, r.env), ctx.Err()
}

func (r *run) disturb(ctx context.Context, n *nemesis.Nemesis) error {
	r.record.Phase(history.Calm)
	r.say("%s, seed %d: %d nodes at %d operations a second", r.Scenario.Name, r.Seed, r.Scenario.Nodes, r.Scenario.Rate)
	sleep(ctx, r.Scenario.Calm)
	if slices.ContainsFunc(wanted(r.Scenario), func(f *scenarios.Fault) bool { return f.Way != "" }) {
		if err := r.rig.keep(); err != nil {
			return err
		}
	}
	r.record.Phase(history.Faults)
	if !r.Scenario.Exploratory() {
		return n.Play(ctx, r.Scenario)
	}
	limited, cancel := context.WithTimeout(ctx, r.Scenario.Faults)
	defer cancel()
	if err := n.Draw(limited, r.Scenario); err != nil {
		return err
	}
	return ctx.Err()
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// evidence reads the history again from its file: what is judged is what is kept.
func (r *run) evidence() (*check.Evidence, error) {
	file, err := os.Open(r.folder.History().Name())
	if err != nil {
		return nil, err
	}
	defer file.Close()
	h, err := history.Load(file)
	if err != nil {
		return nil, err
	}
	return &check.Evidence{History: h, Nodes: nodeIDs(r.Scenario.Nodes), Ends: r.ends, Log: r.log, Dir: r.folder.Pictures()}, nil
}
