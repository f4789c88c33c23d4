//go:build postgres

package export_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cmd/omni/export"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// group is a cluster with a real kernel and a real log behind a real API.
func group(t *testing.T) *client.Client {
	t.Helper()
	g := solo.New(t, 1, solo.Setup{Config: func(c *config.Config) { c.SegmentBytes = 64 << 10 }})
	c, err := client.New(g.Serve(t, httpapi.Options{Heartbeat: 50 * time.Millisecond}), client.Options{})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// exporter is an export under way.
type exporter struct {
	t    *testing.T
	end  context.CancelFunc
	done chan error

	mu  sync.Mutex // guards lag
	lag export.Lag
}

func begin(t *testing.T, c *client.Client, o export.Options) *exporter {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	x := &exporter{t: t, end: cancel, done: make(chan error, 1)}
	if o.Schema == "" {
		o.Schema = "omni"
	}
	if o.Batch == 0 {
		o.Batch = 50
	}
	o.Every = 10 * time.Millisecond
	o.Report = func(lag export.Lag) {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.lag = lag
	}
	go func() {
		err := export.Run(ctx, c, o)
		if err != nil {
			t.Logf("the export ended: %v", err)
		}
		x.done <- err
	}()
	t.Cleanup(cancel)
	return x
}

func (x *exporter) now() export.Lag {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.lag
}

// stop ends it as a signal does.
func (x *exporter) stop() {
	x.t.Helper()
	x.end()
	require.NoError(x.t, <-x.done)
}

// load makes agents do things: some return, some fail, some have children, some
// are killed, some forked.
func load(t *testing.T, c *client.Client, agents int) {
	t.Helper()
	programs := []string{
		`{"kind":"LITERAL","payload":{"value":1}}`,
		`{"kind":"FAIL","payload":{"message":"no"}}`,
		`{"kind":"DELEGATE","payload":{"children":[{"name":"kid","program":{"kind":"LITERAL","payload":{"value":2}},"grants":[]}]}}`,
		`{"kind":"RECEIVE","payload":{}}`,
	}
	for i := range agents {
		done, err := c.Start(t.Context(), event.Start{Define: event.Define{
			Name: fmt.Sprintf("agent %d", i), Program: kerneltest.JSON(t, programs[i%len(programs)]), Grants: kerneltest.Everything(),
		}})
		require.NoError(t, err)
		if i%len(programs) == 3 {
			_, err := c.Kill(t.Context(), event.Kill{Agent: done.AgentID, Reason: "the week is over"})
			require.NoError(t, err)
		}
		if i%40 == 0 {
			_, err := c.ForkAgent(t.Context(), done.AgentID, api.ForkBody{At: done.BusSeq, Input: kerneltest.JSON(t, "1")})
			require.NoError(t, err)
		}
		if i%10 == 0 {
			loadRun(t, c, i/10)
		}
	}
}

// told is what the log says: a line for each transition, in order, and for each
// agent.
func told(t *testing.T, c *client.Client, from uint64) (transitions, agents []string, last uint64) {
	t.Helper()
	type body struct {
		From, To, Trigger, Caller, Code, Class, Reason string
		Name, Evaluator, Mode, Source                  string
		Parent                                         string `json:"parent_id"`
	}
	type agent struct{ name, mode, parent, source, state, code string }
	all := make(map[string]*agent)
	for r, err := range c.Records(t.Context(), api.LogQuery{From: from}) {
		require.NoError(t, err)
		if !slices.Contains(export.Kinds(), r.Kind) {
			continue
		}
		var b body
		require.NoError(t, json.Unmarshal(r.Body, &b))
		last = r.BusSeq
		switch a := all[r.AgentID]; r.Kind {
		case "AGENT_DEFINED":
			all[r.AgentID] = &agent{name: b.Name, mode: b.Mode, state: "DEFINED"}
		case "TOKEN_ISSUED":
			if a != nil {
				a.parent = b.Parent
			}
		case "FORKED":
			if a != nil {
				a.source = b.Source
			}
		case "LIFECYCLE":
			transitions = append(transitions, fmt.Sprintln(r.BusSeq, r.Index, r.AtMillis, r.AgentID, r.Tick, b.From, b.To, b.Trigger, b.Caller, b.Code, b.Class, b.Reason))
			if a != nil {
				a.state, a.code = b.To, b.Code
			}
		}
	}
	for id, a := range all {
		agents = append(agents, fmt.Sprintln(id, *a))
	}
	slices.Sort(agents)
	return transitions, agents, last
}

// stored is what the database says, in the same words.
func stored(t *testing.T, conn *pgx.Conn, cluster string) (transitions, agents []string) {
	t.Helper()
	rows, err := conn.Query(t.Context(), `SELECT bus_seq, raft_index, (extract(epoch FROM at) * 1000)::bigint, agent_id::text, coalesce(tick, 0),
		from_state, to_state, trigger, caller, coalesce(code, ''), coalesce(class, ''), coalesce(reason, '')
		FROM omni.transitions WHERE cluster_id = $1 ORDER BY bus_seq`, cluster)
	require.NoError(t, err)
	transitions = lines(t, rows)
	rows, err = conn.Query(t.Context(), `SELECT agent_id::text, '{' || concat_ws(' ', name, mode, coalesce(parent_id::text, ''),
		coalesce(forked_from::text, ''), state, coalesce(code, '')) || '}' FROM omni.agents WHERE cluster_id = $1`, cluster)
	require.NoError(t, err)
	agents = lines(t, rows)
	slices.Sort(agents)
	return transitions, agents
}

func lines(t *testing.T, rows pgx.Rows) (all []string) {
	t.Helper()
	for rows.Next() {
		values, err := rows.Values()
		require.NoError(t, err)
		all = append(all, fmt.Sprintln(values...))
	}
	require.NoError(t, rows.Err())
	return all
}

// alike waits until the database has all of the log, and compares.
func alike(t *testing.T, c *client.Client, conn *pgx.Conn, from uint64) {
	t.Helper()
	transitions, agents, last := told(t, c, from)
	require.NotEmpty(t, transitions)
	status, err := c.Status(t.Context())
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		var seq uint64
		err := conn.QueryRow(t.Context(), "SELECT bus_seq FROM omni.positions WHERE cluster_id = $1", status.ClusterID).Scan(&seq)
		return err == nil && seq == last
	}, 30*time.Second, 20*time.Millisecond, "up to %d", last)
	gotTransitions, gotAgents := stored(t, conn, status.ClusterID)
	require.Equal(t, transitions, gotTransitions)
	require.Equal(t, agents, gotAgents)
	require.Equal(t, toldOfRuns(t, c, from), storedOfRuns(t, conn, status.ClusterID))
}

// Every transition of the log is in the database exactly once, though the
// server is killed over and over, and so is the exporter, while agents run.
func TestExportThroughCrashes(t *testing.T) {
	s, c := newServer(t), group(t)
	x := begin(t, c, export.Options{DSN: s.dsn()})
	for round := range 4 {
		load(t, c, 60)
		before := x.now().BusSeq
		s.kill()
		load(t, c, 40) // nobody notices
		require.Eventually(t, func() bool { lag := x.now(); return lag.Error != "" && lag.Retries > 0 }, 10*time.Second, 5*time.Millisecond)
		require.GreaterOrEqual(t, x.now().BusSeq, before)
		s.start()
		require.Eventually(t, func() bool { lag := x.now(); return lag.Error == "" && lag.BusSeq > before }, 20*time.Second, 5*time.Millisecond)
		if round%2 == 1 {
			x.stop()
			load(t, c, 10)
			x = begin(t, c, export.Options{DSN: s.dsn(), From: 1_000_000, Batch: 7}) // which is where a new one would begin
		}
	}
	alike(t, c, s.connect(), 1)
	require.Eventually(t, func() bool { lag := x.now(); return lag.Error == "" && lag.Waiting == 0 && lag.Millis == 0 }, 10*time.Second, 5*time.Millisecond)
	x.stop()
}

// What is offered again is there once: by two exporters at a time, and by one
// whose position was set back.
func TestDuplicatesAreOne(t *testing.T) {
	s, c := newServer(t), group(t)
	all := []*exporter{begin(t, c, export.Options{DSN: s.dsn(), Batch: 3}), begin(t, c, export.Options{DSN: s.dsn(), Batch: 20})}
	load(t, c, 120)
	conn := s.connect()
	alike(t, c, conn, 1)
	for _, x := range all {
		x.stop()
	}
	for range 2 {
		_, err := conn.Exec(t.Context(), "UPDATE omni.positions SET bus_seq = bus_seq / 3, kind = NULL")
		require.NoError(t, err)
		x := begin(t, c, export.Options{DSN: s.dsn()})
		alike(t, c, conn, 1)
		x.stop()
	}
	load(t, c, 20)
	x := begin(t, c, export.Options{DSN: s.dsn()})
	alike(t, c, conn, 1)
	x.stop()
}

// A database that takes nothing is nobody's concern but the exporter's: commands
// go on, and the lag says how it is.
func TestSlowDatabase(t *testing.T) {
	s, c := newServer(t), group(t)
	x := begin(t, c, export.Options{DSN: s.dsn()})
	load(t, c, 10)
	conn := s.connect()
	alike(t, c, conn, 1)
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "LOCK TABLE omni.transitions IN ACCESS EXCLUSIVE MODE")
	require.NoError(t, err)
	load(t, c, 100)
	require.Eventually(t, func() bool { lag := x.now(); return lag.Waiting > 0 && lag.Millis > 300 }, 10*time.Second, 10*time.Millisecond)
	require.Empty(t, x.now().Error, "it is slow, not down")
	require.NoError(t, tx.Rollback(t.Context()))
	alike(t, c, conn, 1)
	require.Eventually(t, func() bool { return x.now().Millis == 0 }, 10*time.Second, 5*time.Millisecond)
	require.Zero(t, x.now().Retries)
	x.stop()
}

// Another log under the same cluster's id is noticed, whether it is longer or
// shorter, and nothing is written.
func TestAnotherLog(t *testing.T) {
	s, c := newServer(t), group(t)
	x := begin(t, c, export.Options{DSN: s.dsn()})
	load(t, c, 20)
	conn := s.connect()
	alike(t, c, conn, 1)
	x.stop()
	before, _ := stored(t, conn, solo.ClusterID)
	for _, agents := range []int{0, 60} {
		other := group(t)
		load(t, other, agents)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		err := export.Run(ctx, other, export.Options{DSN: s.dsn(), Schema: "omni", Batch: 10})
		cancel()
		var wrong *export.OtherLogError
		require.ErrorAs(t, err, &wrong, "%d agents: %v", agents, err)
		assert.Contains(t, err.Error(), solo.ClusterID)
		after, _ := stored(t, conn, solo.ClusterID)
		require.Equal(t, before, after)
	}
}

// An export may begin later than the log, and what it is not told of is not there.
func TestFromLaterOn(t *testing.T) {
	s, c := newServer(t), group(t)
	load(t, c, 20)
	_, _, last := told(t, c, 1)
	x := begin(t, c, export.Options{DSN: s.dsn(), From: last + 1})
	load(t, c, 20)
	alike(t, c, s.connect(), last+1)
	x.stop()
}

// What was archived is read where the archive is.
func TestExportOfAnArchivedLog(t *testing.T) {
	s, c := newServer(t), group(t)
	load(t, c, 200)
	_, err := c.ArchiveLog(t.Context(), event.ArchiveLog{})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		for _, err := range c.Watch(t.Context(), api.WatchQuery{From: 1}) {
			return err != nil
		}
		return false
	}, 20*time.Second, 20*time.Millisecond, "a watch from the beginning is refused")
	x := begin(t, c, export.Options{DSN: s.dsn()})
	load(t, c, 20)
	alike(t, c, s.connect(), 1)
	x.stop()
}

// The schema is made by whoever comes first, kept by whoever comes later, and not
// touched by who is older than it. A refusal that does not pass ends it.
func TestSchema(t *testing.T) {
	s, c := newServer(t), group(t)
	load(t, c, 4)
	var all []*exporter
	for range 4 {
		all = append(all, begin(t, c, export.Options{DSN: s.dsn(), Schema: `Omni "two"`}))
	}
	conn := s.connect()
	require.Eventually(t, func() bool {
		var n int
		err := conn.QueryRow(t.Context(), `SELECT count(*) FROM "Omni ""two""".agents`).Scan(&n)
		return err == nil && n > 0
	}, 20*time.Second, 20*time.Millisecond)
	for _, x := range all {
		x.stop()
	}
	var versions int
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM "Omni ""two""".schema_versions`).Scan(&versions))
	require.Equal(t, export.SchemaVersion, versions)

	_, err := conn.Exec(t.Context(), `INSERT INTO "Omni ""two""".schema_versions (version) VALUES (99)`)
	require.NoError(t, err)
	err = export.Run(t.Context(), c, export.Options{DSN: s.dsn(), Schema: `Omni "two"`, Batch: 10})
	var newer *export.SchemaError
	require.ErrorAs(t, err, &newer)
	require.Equal(t, 99, newer.Found)

	err = export.Run(t.Context(), c, export.Options{DSN: s.dsn() + " dbname=nowhere", Schema: "omni", Batch: 10})
	require.ErrorContains(t, err, "nowhere")
}

// The export goes on at another node when its own is gone.
func TestExportWhenNodesGo(t *testing.T) {
	s := newServer(t)
	g := solo.New(t, 3, solo.Setup{})
	var urls []string
	var stops []func()
	for i := range 3 {
		url, stop := g.ServeNode(t, i, httpapi.Options{})
		urls, stops = append(urls, url), append(stops, stop)
	}
	c, err := client.New(urls, client.Options{})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	x := begin(t, c, export.Options{DSN: s.dsn()})
	conn := s.connect()
	load(t, c, 40)
	for next := 1; next < 3; next++ {
		alike(t, c, conn, 1)
		g.Lead(next)
		stops[next-1]()
		load(t, c, 40)
	}
	alike(t, c, conn, 1)
	x.stop()
}
