package export

import "github.com/omnikernel/omnikernel/transport/api"

// ofRuns fills runs, run_tasks and run_transitions.
var ofRuns = []rule{
	{"RUN_DEFINED", `
		INSERT INTO runs (cluster_id, bus_seq, run_id, defined_at, goal, seed, state, state_seq, state_at)
		VALUES ($1, $2, $3, $4, $5, $6, 'PLANNING', $2, $4)
		ON CONFLICT DO NOTHING`,
		from(func(r *api.Record, b *struct{ Goal, Seed string }) []any {
			return []any{r.AgentID, at(r), clean(b.Goal), orNull(clean(b.Seed))}
		})},
	{"RUN_PLANNED", `
		UPDATE runs SET tasks = $4 WHERE cluster_id = $1 AND run_id = $3 AND bus_seq < $2`,
		from(func(r *api.Record, b *planned) []any {
			return []any{r.AgentID, len(b.Tasks)}
		})},
	{"RUN_PLANNED", `
		INSERT INTO run_tasks (cluster_id, bus_seq, run_id, task, name, state, state_seq)
		SELECT $1, $2, $3, place - 1, name, 'WAITING', $2 FROM unnest($4::text[]) WITH ORDINALITY AS plan (name, place)
		ON CONFLICT DO NOTHING`,
		from(func(r *api.Record, b *planned) []any {
			names := make([]string, len(b.Tasks))
			for i := range b.Tasks {
				names[i] = clean(b.Tasks[i].Name)
			}
			return []any{r.AgentID, names}
		})},
	{"RUN_TRANSITION", `
		INSERT INTO run_transitions (cluster_id, bus_seq, run_id, raft_index, at, from_state, to_state, trigger, cause, code, forced, reason)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT DO NOTHING`,
		from(func(r *api.Record, b *step) []any {
			return []any{
				r.AgentID, int64(r.Index), at(r), b.From, b.To, b.Trigger, b.Cause, orNull(b.Code), b.Forced, orNull(clean(b.Reason)),
			}
		})},
	{"RUN_TRANSITION", `
		UPDATE runs SET state = $4, state_seq = $2, state_at = $5, cause = $6, code = $7, reason = $8
		WHERE cluster_id = $1 AND run_id = $3 AND state_seq < $2`,
		from(func(r *api.Record, b *step) []any {
			return []any{r.AgentID, b.To, at(r), orNull(b.Cause), orNull(b.Code), orNull(clean(b.Reason))}
		})},
	{"RUN_TASK_STARTED", `
		UPDATE run_tasks SET state = 'RUNNING', state_seq = $2, started_at = $5
		WHERE cluster_id = $1 AND run_id = $3 AND task = $4 AND state_seq < $2`,
		from(func(r *api.Record, b *task) []any { return []any{r.AgentID, b.Task, at(r)} })},
	{"RUN_TASK_COMPLETED", `
		UPDATE run_tasks SET state = 'DONE', state_seq = $2, ended_at = $5
		WHERE cluster_id = $1 AND run_id = $3 AND task = $4 AND state_seq < $2`,
		from(func(r *api.Record, b *task) []any { return []any{r.AgentID, b.Task, at(r)} })},
	{"RUN_TASK_FAILED", `
		UPDATE run_tasks SET state = 'FAILED', state_seq = $2, ended_at = $5, code = $6, message = $7
		WHERE cluster_id = $1 AND run_id = $3 AND task = $4 AND state_seq < $2`,
		from(func(r *api.Record, b *task) []any {
			return []any{r.AgentID, b.Task, at(r), orNull(b.Code), orNull(clean(b.Message))}
		})},
}

// The bodies of runs' records (docs/api.md).
type (
	planned struct{ Tasks []struct{ Name string } }
	step    struct {
		From, To, Trigger, Cause, Code, Reason string
		Forced                                 bool
	}
	task struct {
		Task          int32
		Code, Message string
	}
)
