package export

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/omnikernel/omnikernel/transport/api"
)

// rule makes one statement of each record of a kind. Every statement has the
// cluster for $1 and the record's busSeq for $2, and does nothing when it is
// executed again.
type rule struct {
	kind string
	sql  string
	args func(r *api.Record) ([]any, error) // from $3 on
}

// rules is what is exported. For another table: a migration that creates it, and
// rules of its own.
var rules = slices.Concat(ofAgents, ofRuns)

// ofAgents fills agents and transitions.
var ofAgents = []rule{
	{"AGENT_DEFINED", `
		INSERT INTO agents (cluster_id, bus_seq, agent_id, defined_at, name, evaluator, mode, state, state_seq, state_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, 'DEFINED', $2, $4)
		ON CONFLICT DO NOTHING`,
		from(func(r *api.Record, b *struct{ Name, Evaluator, Mode string }) []any {
			return []any{r.AgentID, at(r), clean(b.Name), b.Evaluator, b.Mode}
		})},
	{"TOKEN_ISSUED", `
		UPDATE agents SET parent_id = $4 WHERE cluster_id = $1 AND agent_id = $3 AND bus_seq < $2`,
		from(func(r *api.Record, b *struct {
			Parent string `json:"parent_id"`
		}) []any {
			return []any{r.AgentID, orNull(b.Parent)}
		})},
	{"FORKED", `
		UPDATE agents SET forked_from = $4, forked_at = $5 WHERE cluster_id = $1 AND agent_id = $3 AND bus_seq < $2`,
		from(func(r *api.Record, b *struct {
			Source string
			At     uint64
		}) []any {
			return []any{r.AgentID, b.Source, int64(b.At)}
		})},
	{"LIFECYCLE", `
		INSERT INTO transitions (cluster_id, bus_seq, agent_id, raft_index, at, tick, from_state, to_state, trigger, caller, code, class, reason)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
		ON CONFLICT DO NOTHING`,
		from(func(r *api.Record, b *transition) []any {
			return []any{
				r.AgentID, int64(r.Index), at(r), orNull(int64(r.Tick)), b.From, b.To, b.Trigger, b.Caller,
				orNull(b.Code), orNull(b.Class), orNull(clean(b.Reason)),
			}
		})},
	{"LIFECYCLE", `
		UPDATE agents SET state = $4, state_seq = $2, state_at = $5, code = $6
		WHERE cluster_id = $1 AND agent_id = $3 AND state_seq < $2`,
		from(func(r *api.Record, b *transition) []any {
			return []any{r.AgentID, b.To, at(r), orNull(b.Code)}
		})},
}

// transition is the body of LIFECYCLE (docs/api.md).
type transition struct{ From, To, Trigger, Caller, Code, Class, Reason string }

// Kinds lists the kinds of records that are exported, in order of their names.
func Kinds() []string {
	var kinds []string
	for i := range rules {
		kinds = append(kinds, rules[i].kind)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// from reads the record's body for a rule's arguments.
func from[Body any](args func(r *api.Record, b *Body) []any) func(r *api.Record) ([]any, error) {
	return func(r *api.Record) ([]any, error) {
		var b Body
		if err := json.Unmarshal(r.Body, &b); err != nil {
			return nil, fmt.Errorf("export: the body of record %d, %s, does not read: %w", r.BusSeq, r.Kind, err)
		}
		return args(r, &b), nil
	}
}

// at is the kernel clock of the record's event.
func at(r *api.Record) time.Time { return time.UnixMilli(r.AtMillis).UTC() }

// clean is a text as PostgreSQL takes it: it has no character 0.
func clean(s string) string { return strings.ReplaceAll(s, "\x00", "\uFFFD") }

// orNull is null for what is empty.
func orNull[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}
