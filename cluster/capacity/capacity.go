package capacity

import "github.com/omnikernel/omnikernel/kernel/state"

// Use is how much there is of what one limit bounds.
type Use struct {
	Limit string `json:"limit"` // its name in the cluster's configuration
	Used  uint64 `json:"used"`
	Most  uint64 `json:"most"`
}

// nearly is the share of a limit, in percent, from which on it is near.
const nearly = 80

// Near tells whether the limit is near, or reached.
func (u Use) Near() bool { return u.percent() >= nearly }

// Reached tells whether there is no room left.
func (u Use) Reached() bool { return u.Used >= u.Most }

// Share is the part of the limit that is used, 1 when it is reached.
func (u Use) Share() float64 { return float64(u.Used) / float64(u.Most) }

// percent is rounded down.
func (u Use) percent() uint64 { return u.Used * 100 / u.Most }

// Of gives all that a state has of what its cluster bounds as a whole; nothing before a
// cluster's first event. What one agent, tick or run may have is not here.
func Of(s *state.State) []Use {
	c := s.Config
	if c == nil {
		return nil
	}
	calls := max(s.Tools.Len(), s.Budgets.Open()) + s.Budgets.Waiters() // either refuses the next one
	return []Use{
		{"max_agents", uint64(s.Agents.Len()), uint64(c.MaxAgents)},
		{"global_queue", uint64(s.Running.Reserved), uint64(c.GlobalQueue)},
		{"max_outbox", uint64(calls), uint64(c.MaxOutbox)},
		{"max_sessions", uint64(s.Sessions.Len()), uint64(c.MaxSessions)},
		{"max_idempotency_keys", uint64(s.Sessions.Keys()), uint64(c.MaxIdempotencyKeys)},
		{"max_runs", uint64(s.Runs.Len()), uint64(c.MaxRuns)},
		{"max_tools", uint64(s.Tools.Revisions()), uint64(c.MaxTools)},
		{"max_escalations", uint64(s.Escalations.Len()), uint64(c.MaxEscalations)},
		{"max_interned_bytes", s.Interned.Bytes, c.MaxInternedBytes},
		{"max_shared_keys", s.Memory.SharedKeys, uint64(c.MaxSharedKeys)},
		{"max_shared_bytes", s.Memory.SharedBytes, c.MaxSharedBytes},
		{"max_persistent_bytes", s.Memory.PersistentBytes, c.MaxPersistentBytes},
	}
}

// NearOf gives those of which the limit is near, or reached.
func NearOf(s *state.State) (near []Use) {
	for _, u := range Of(s) {
		if u.Near() {
			near = append(near, u)
		}
	}
	return near
}
