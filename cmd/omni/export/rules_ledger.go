package export

import (
	"encoding/json"
	"strings"

	"github.com/omnikernel/omnikernel/transport/api"
)

// ofLedger makes a row of any record of an agent that works for a run (RU-4).
var ofLedger = rule{"", `
	INSERT INTO ledger (cluster_id, bus_seq, run_id, raft_index, at, agent_id, kind, tick, step, cause, body)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
	ON CONFLICT DO NOTHING`,
	func(r *api.Record) ([]any, error) {
		return []any{
			r.RunID, int64(r.Index), at(r), r.AgentID, r.Kind, orNull(int64(r.Tick)), orNull(int32(r.Step)), orNull(int64(r.Cause)), cleanJSON(r.Body),
		}, nil
	}}

// cleanJSON is JSON as PostgreSQL takes it for jsonb: no text of it has a
// character 0, which JSON writes \u0000.
func cleanJSON(raw json.RawMessage) string {
	text := string(raw)
	const zero = `\u0000`
	var out strings.Builder
	for {
		at := strings.Index(text, zero)
		if at < 0 {
			break
		}
		before := text[:at]
		escaped := (len(before) - len(strings.TrimRight(before, `\`))) % 2 // by a backslash before it
		out.WriteString(before)
		if escaped == 1 {
			out.WriteString(zero)
		} else {
			out.WriteString(`\ufffd`)
		}
		text = text[at+len(zero):]
	}
	out.WriteString(text)
	return out.String()
}
