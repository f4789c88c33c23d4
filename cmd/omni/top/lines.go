package top

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
)

// Lines lays a view out, none wider than columns and at most rows of them; 0 is as many
// as it takes.
func (v *View) Lines(s tell.Style, columns, rows int) []string {
	var lines []string
	line := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	leader := v.Leader
	if leader == "" {
		leader = s.Bad("nobody leads")
	}
	head := fmt.Sprintf("%s  leader %s  term %d  index %d  %s", s.Bold(v.ClusterID), leader, v.Term, v.Index, time.UnixMilli(v.AtMillis).UTC().Format("15:04:05Z"))
	if v.Stopped {
		head += "  " + s.Bad("EMERGENCY STOP")
	}
	line("%s", head)
	line("")
	line("%s", s.Faint(fmt.Sprintf("%-10s %-10s %-11s %10s %7s %8s %6s  %s", "NODE", "ROLE", "STATE", "APPLIED", "BEHIND", "LAG", "CALLS", "HEALTH")))
	for i := range v.Nodes {
		n := &v.Nodes[i]
		health := s.Good("ok")
		if !n.Healthy {
			health = s.Bad(n.Reason)
		}
		line("%-10s %-10s %-11s %10d %7d %6dms %6d  %s", n.ID, n.Role, n.State, n.Applied, n.Behind, n.LagMs, n.InFlight, health)
	}
	line("")
	line("events/s %.1f  records/s %.1f  calls/s %.1f (failed %.1f)  requests/s %.1f", v.EventsPerSecond, v.RecordsPerS, v.CallsPerSecond, v.FailedPerSecond, v.RequestsPerS)
	line("queue %d  outbox %d  timers %d  escalations %d  waiting for budget %d", v.Queue, v.Outbox, v.Timers, v.Escalations, v.BudgetWaiting)
	line("")
	var states []string
	for state := range lifecycle.State(lifecycle.States) {
		states = append(states, fmt.Sprintf("%s %d", strings.ToLower(state.String()), v.Agents[state.String()]))
	}
	line("agents  %s", strings.Join(states, "  "))
	if len(v.Slowest) > 0 {
		line("")
		line("%s", s.Faint(fmt.Sprintf("%-34s %12s %10s", "SLOWEST", "ON AVERAGE", "EACH S")))
		for _, slow := range v.Slowest {
			line("%-34s %10.1fms %10.1f", slow.What, slow.Ms, slow.PerS)
		}
	}
	if rows > 0 {
		lines = lines[:min(len(lines), rows)]
	}
	if columns > 0 {
		for i := range lines {
			lines[i] = lipgloss.NewStyle().MaxWidth(columns).Render(lines[i])
		}
	}
	return lines
}
