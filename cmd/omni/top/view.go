package top

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/omnikernel/omnikernel/transport/api"
)

// View is a cluster at one moment. Rates are over the time since the look before.
type View struct {
	AtMillis  int64  `json:"at_ms"` // of whoever looks, Unix milliseconds
	ClusterID string `json:"cluster_id"`
	Leader    string `json:"leader"`
	Term      uint64 `json:"term"`
	Stopped   bool   `json:"stopped"` // by an emergency stop
	Nodes     []Node `json:"nodes"`

	Index           uint64  `json:"index"` // that the kernel's numbers are of
	EventsPerSecond float64 `json:"events_per_s"`
	RecordsPerS     float64 `json:"records_per_s"`
	CallsPerSecond  float64 `json:"calls_per_s"`
	FailedPerSecond float64 `json:"failed_calls_per_s"`
	RequestsPerS    float64 `json:"requests_per_s"`

	Agents        map[string]int `json:"agents"` // by state
	Queue         int            `json:"queue"`
	Outbox        int            `json:"outbox"`
	Timers        int            `json:"timers"`
	Escalations   int            `json:"escalations"`
	BudgetWaiting int            `json:"budget_waiting"`

	Slowest []Slow `json:"slowest"` // on average since the look before, the slowest first
}

// Node is one of its nodes.
type Node struct {
	ID       string `json:"id"`
	Role     string `json:"role"`
	State    string `json:"state"`
	Healthy  bool   `json:"healthy"`
	Reason   string `json:"reason,omitempty"`
	Applied  uint64 `json:"applied_index"`
	Behind   uint64 `json:"behind"` // entries that it knows to be committed, and has not applied
	LagMs    int64  `json:"lag_ms"`
	InFlight int    `json:"calls_in_flight"`
	Version  string `json:"version"`
}

// Slow is what took long: a kind of calls, or a route of the API.
type Slow struct {
	What string  `json:"what"`
	Ms   float64 `json:"ms"`
	PerS float64 `json:"per_s"`
}

// Look is what was answered at one moment: a node is missing whose metrics were not.
type Look struct {
	At      time.Time
	Status  api.Status
	Metrics map[string]Metrics
}

// maxSlow is how many of the slowest are told of.
const maxSlow = 5

// Of puts a view together, with the rates since the look before.
func Of(before, now *Look) View {
	v := View{
		AtMillis: now.At.UnixMilli(), ClusterID: now.Status.ClusterID, Leader: now.Status.Leader, Term: now.Status.Term,
		Stopped: now.Status.Stopped != nil, Nodes: make([]Node, 0, len(now.Status.Nodes)), Agents: make(map[string]int), Slowest: []Slow{},
	}
	for i := range now.Status.Nodes {
		n := &now.Status.Nodes[i]
		v.Nodes = append(v.Nodes, Node{
			ID: n.ID, Role: n.Role, State: n.State, Healthy: n.Healthy, Reason: n.Reason, Applied: n.AppliedIndex,
			Behind: n.CommitIndex - min(n.CommitIndex, n.AppliedIndex), LagMs: n.LagMillis, InFlight: int(now.Metrics[n.ID].Sum("omni_tools_calls_in_flight")), Version: n.Version,
		})
	}
	v.kernel(before, now)
	v.traffic(before, now)
	return v
}

// kernel is of the node that has applied most among those that answered.
func (v *View) kernel(before, now *Look) {
	var most string
	for i := range v.Nodes {
		if n := &v.Nodes[i]; now.Metrics[n.ID] != nil && (most == "" || n.Applied > v.Index) {
			most, v.Index = n.ID, n.Applied
		}
	}
	m := now.Metrics[most]
	//lint:ordered a map is made of a map
	for state, n := range m.By("omni_kernel_agents", "state") {
		v.Agents[state] = int(n)
	}
	v.Queue, v.Outbox, v.Timers = int(m.Sum("omni_kernel_queue_depth")), int(m.Sum("omni_kernel_outbox_depth")), int(m.Sum("omni_kernel_timers"))
	v.Escalations, v.BudgetWaiting = int(m.Sum("omni_kernel_escalations_open")), int(m.Sum("omni_budget_waiting"))
	seconds := now.At.Sub(before.At).Seconds()
	if old := before.Metrics[most]; old != nil && seconds > 0 {
		v.EventsPerSecond = max(0, m.Sum("omni_kernel_events_total")-old.Sum("omni_kernel_events_total")) / seconds
		v.RecordsPerS = max(0, m.Sum("omni_kernel_records_total")-old.Sum("omni_kernel_records_total")) / seconds
	}
}

// traffic is of all nodes together.
func (v *View) traffic(before, now *Look) {
	seconds := now.At.Sub(before.At).Seconds()
	if seconds <= 0 {
		return
	}
	counts, sums := make(map[string]float64), make(map[string]float64)
	for _, id := range slices.Sorted(maps.Keys(now.Metrics)) {
		m, old := now.Metrics[id], before.Metrics[id]
		if old == nil {
			continue
		}
		grown := func(name, label, prefix string, into map[string]float64) (all float64) {
			was := old.By(name, label)
			//lint:ordered sums do not depend on it, but for their last bits
			for value, n := range m.By(name, label) {
				more := max(0, n-was[value]) // a node that began anew counts from 0
				all += more
				into[prefix+value] += more
			}
			return all
		}
		outcomes := make(map[string]float64)
		calls := grown("omni_tools_calls_total", "outcome", "", outcomes)
		v.CallsPerSecond += calls / seconds
		v.FailedPerSecond += (calls - outcomes["OK"]) / seconds
		v.RequestsPerS += grown("omni_api_requests_total", "route", "", make(map[string]float64)) / seconds
		grown("omni_tools_call_seconds_count", "kind", "call ", counts)
		grown("omni_tools_call_seconds_sum", "kind", "call ", sums)
		grown("omni_api_request_seconds_count", "route", "", counts)
		grown("omni_api_request_seconds_sum", "route", "", sums)
	}
	for _, what := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[what]; n > 0 {
			v.Slowest = append(v.Slowest, Slow{What: what, Ms: 1000 * sums[what] / n, PerS: n / seconds})
		}
	}
	slices.SortStableFunc(v.Slowest, func(a, b Slow) int { return cmp.Compare(b.Ms, a.Ms) })
	v.Slowest = v.Slowest[:min(len(v.Slowest), maxSlow)]
}
