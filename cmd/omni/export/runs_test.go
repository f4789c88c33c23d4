//go:build postgres

package export_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cmd/omni/export"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// loadRun makes one run: it is completed, fails, is paused and goes on, is killed,
// or stays planned, by turns.
func loadRun(t *testing.T, c *client.Client, turn int) {
	t.Helper()
	fine, wrong, waits := kerneltest.JSON(t, `{"kind":"DELEGATE","payload":{"children":[{"program":{"kind":"LITERAL","payload":{"value":1}}}]}}`),
		kerneltest.JSON(t, `{"kind":"CALL","payload":{"tool":"no.such"}}`), kerneltest.JSON(t, `{"kind":"RECEIVE","payload":{}}`)
	plan := event.PlanRun{
		Goal: fmt.Sprintf("turn %d\x00", turn), Agent: event.Define{Grants: kerneltest.Everything()}, Start: turn%5 != 4,
		Tasks: []event.RunTask{{Name: "first", Program: fine}, {Name: "second", Program: fine}},
	}
	switch turn % 5 {
	case 1:
		plan.Tasks[1].Program = wrong
	case 2, 3:
		plan.Tasks[1].Program = waits
	}
	done, err := c.PlanRun(t.Context(), plan)
	require.NoError(t, err)
	switch id := done.AgentID; turn % 5 {
	case 2:
		_, err := c.PauseRun(t.Context(), event.PauseRun{Run: id, Reason: "lunch", Force: true})
		require.NoError(t, err)
		_, err = c.ResumeRun(t.Context(), event.ResumeRun{Run: id})
		require.NoError(t, err)
		_, err = c.Send(t.Context(), event.Send{Agent: id, Message: kerneltest.JSON(t, "1")})
		require.NoError(t, err)
	case 3:
		_, err := c.KillRun(t.Context(), event.KillRun{Run: id, Trigger: "security"})
		require.NoError(t, err)
	}
}

// toldOfRuns is what the log says of runs: a line for each transition, each run
// and each task.
func toldOfRuns(t *testing.T, c *client.Client, from uint64) (lines []string) {
	t.Helper()
	type body struct {
		From, To, Trigger, Cause, Code, Reason, Goal, Message string
		Parent                                                string `json:"parent_id"`
		Forced                                                bool
		Task                                                  int
		Tasks                                                 []struct{ Name string }
	}
	runs, tasks, of := make(map[string][]any), make(map[string][]any), make(map[string]string)
	var records []api.Record
	for r, err := range c.Records(t.Context(), api.LogQuery{From: from}) {
		require.NoError(t, err)
		records = append(records, r)
		var b body
		if strings.HasPrefix(r.Kind, "RUN_") || r.Kind == "TOKEN_ISSUED" {
			require.NoError(t, json.Unmarshal(r.Body, &b))
		}
		if run := of[b.Parent]; r.Kind == "TOKEN_ISSUED" && run != "" {
			of[r.AgentID] = run
		}
		clean := func(s string) string {
			return string(slices.DeleteFunc([]rune(s), func(c rune) bool { return c == 0 }))
		}
		task := func(place int) string { return fmt.Sprint(r.AgentID, " ", place) }
		switch r.Kind {
		case "RUN_DEFINED":
			runs[r.AgentID] = []any{r.AgentID, clean(b.Goal), 0, "PLANNING", "", "", ""}
			of[r.AgentID] = r.AgentID
		case "RUN_PLANNED":
			runs[r.AgentID][2] = len(b.Tasks)
			for i := range b.Tasks {
				tasks[task(i)] = []any{r.AgentID, i, b.Tasks[i].Name, "WAITING", 0, 0, "", ""}
			}
		case "RUN_TASK_STARTED":
			tasks[task(b.Task)][3], tasks[task(b.Task)][4] = "RUNNING", r.AtMillis
		case "RUN_TASK_COMPLETED":
			tasks[task(b.Task)][3], tasks[task(b.Task)][5] = "DONE", r.AtMillis
		case "RUN_TASK_FAILED":
			of := tasks[task(b.Task)]
			of[3], of[5], of[6], of[7] = "FAILED", r.AtMillis, b.Code, b.Message
		case "RUN_TRANSITION":
			runs[r.AgentID] = append(runs[r.AgentID][:3], b.To, b.Cause, b.Code, b.Reason)
			lines = append(lines, fmt.Sprintln(r.BusSeq, r.Index, r.AtMillis, r.AgentID, b.From, b.To, b.Trigger, b.Cause, b.Code, b.Forced, b.Reason))
		}
	}
	for _, r := range records {
		require.Equal(t, of[r.AgentID], r.RunID, "record %d, %s", r.BusSeq, r.Kind)
		if r.RunID != "" {
			lines = append(lines, fmt.Sprintln(r.BusSeq, r.RunID, r.Index, r.AgentID, r.Kind, r.Tick, r.Step, r.Cause, sameJSON(t, r.Body)))
		}
	}
	for _, values := range runs {
		lines = append(lines, fmt.Sprintln(values...))
	}
	for _, values := range tasks {
		lines = append(lines, fmt.Sprintln(values...))
	}
	slices.Sort(lines)
	return lines
}

// sameJSON writes JSON in one way, as PostgreSQL can hold it.
func sameJSON(t *testing.T, raw []byte) string {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal(raw, &v))
	out, err := json.Marshal(v)
	require.NoError(t, err)
	return strings.ReplaceAll(strings.ReplaceAll(string(out), `\u0000`, "\uFFFD"), `\ufffd`, "\uFFFD")
}

// storedOfRuns is what the database says, in the same words.
func storedOfRuns(t *testing.T, conn *pgx.Conn, cluster string) (all []string) {
	t.Helper()
	for _, query := range []string{
		`SELECT bus_seq, raft_index, (extract(epoch FROM at) * 1000)::bigint, run_id::text, from_state, to_state, trigger, cause,
			coalesce(code, ''), forced, coalesce(reason, '') FROM omni.run_transitions WHERE cluster_id = $1`,
		`SELECT run_id::text, replace(goal, U&'\FFFD', ''), tasks, state, coalesce(cause, ''), coalesce(code, ''), coalesce(reason, '')
			FROM omni.runs WHERE cluster_id = $1`,
		`SELECT run_id::text, task, name, state, coalesce((extract(epoch FROM started_at) * 1000)::bigint, 0),
			coalesce((extract(epoch FROM ended_at) * 1000)::bigint, 0), coalesce(code, ''), coalesce(message, '')
			FROM omni.run_tasks WHERE cluster_id = $1`,
	} {
		rows, err := conn.Query(t.Context(), query, cluster)
		require.NoError(t, err)
		all = append(all, lines(t, rows)...)
	}
	rows, err := conn.Query(t.Context(), `SELECT bus_seq, run_id::text, raft_index, agent_id::text, kind, coalesce(tick, 0), coalesce(step, 0),
		coalesce(cause, 0), body::text FROM omni.ledger WHERE cluster_id = $1`, cluster)
	require.NoError(t, err)
	for rows.Next() {
		values, err := rows.Values()
		require.NoError(t, err)
		body := values[len(values)-1].(string)
		all = append(all, fmt.Sprintln(append(values[:len(values)-1:len(values)-1], sameJSON(t, []byte(body)))...))
	}
	require.NoError(t, rows.Err())
	slices.Sort(all)
	return all
}

// A part of the log that is written a second time, because the position was set
// back, leaves agents, runs and tasks where the later part had brought them.
func TestNothingGoesBack(t *testing.T) {
	s, c := newServer(t), group(t)
	load(t, c, 60)
	x := begin(t, c, export.Options{DSN: s.dsn()})
	conn := s.connect()
	alike(t, c, conn, 1)
	x.stop()
	const states = `SELECT agent_id::text || state || state_seq AS line FROM omni.agents
		UNION ALL SELECT run_id::text || state || state_seq FROM omni.runs
		UNION ALL SELECT run_id::text || task || state || state_seq || coalesce(ended_at::text, '') FROM omni.run_tasks ORDER BY line`
	all := func() []string {
		rows, err := conn.Query(t.Context(), states)
		require.NoError(t, err)
		return lines(t, rows)
	}
	before := all()
	_, err := conn.Exec(t.Context(), "UPDATE omni.positions SET bus_seq = 0, kind = NULL")
	require.NoError(t, err)
	x = begin(t, c, export.Options{DSN: s.dsn(), Batch: 1})
	require.Eventually(t, func() bool { return x.now().Records >= 20 }, 10*time.Second, time.Millisecond)
	x.stop()
	require.Equal(t, before, all())
}
