package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/omnikernel/omnikernel/cmd/omni/load"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// ToolReport is what one kind of adapter was measured at, with a tool that does nothing.
type ToolReport struct {
	Adapter    string `json:"adapter"`
	Idempotent bool   `json:"idempotent"` // without it a call is dispatched first, by a record of its own

	// One caller, one call after the other: without the kernel, through it, and the
	// difference. Medians; through the kernel of the mean call of an instruction.
	DirectMillis  float64 `json:"direct_p50_ms"`
	ThroughMillis float64 `json:"through_p50_ms"`
	AddedMillis   float64 `json:"added_p50_ms"`

	Agents    int     `json:"agents"`     // that call at the same time …
	PerSecond float64 `json:"per_second"` // … so many times in all
	Count     uint64  `json:"count"`      // calls that succeeded meanwhile
	Errors    uint64  `json:"errors"`     // instructions that did not; in no other figure
	First     string  `json:"first_error,omitempty"`
}

// ToolReports is what Tools measured.
type ToolReports struct {
	Bench string       `json:"bench"` // "tools"
	Tools []ToolReport `json:"tools"`
}

// counterpart is what stands at the other end of an adapter: a tool that does nothing.
type counterpart struct {
	config map[string]any                  // of its manifest
	most   int                             // agents that call at once; as many as asked for when 0
	steps  int                             // calls of one instruction; as many as asked for when 0
	cost   tools.Cost                      // of its manifest
	args   func(i int) any                 // of a call
	direct func(ctx context.Context) error // one call without the kernel
	close  func()
}

// Tools measures what the kernel adds to calls of each kind of adapter that is named,
// beside calling the same tool directly: with one agent the latency, with o.Clients
// agents the throughput; of idempotent tools, and of such that are not.
func Tools(ctx context.Context, o Options, each func(ToolReport)) (ToolReports, error) {
	reports := ToolReports{Bench: "tools"}
	for _, kind := range o.Adapters {
		for _, idempotent := range []bool{false, true} {
			report, err := o.tool(ctx, kind, idempotent)
			if err != nil {
				return reports, fmt.Errorf("%s: %w", kind, err)
			}
			each(report)
			reports.Tools = append(reports.Tools, report)
		}
	}
	return reports, nil
}

// AdapterKinds are the kinds that Tools knows.
func AdapterKinds() []string {
	kinds := make([]string, len(counterparts))
	for i := range counterparts {
		kinds[i] = counterparts[i].adapter
	}
	return kinds
}

var counterparts = [...]struct {
	adapter string
	begin   func(o *Options, tool string) (*counterpart, error)
}{
	{"http", httpCounterpart},
	{"llm", llmCounterpart},
	{"mcp", mcpCounterpart},
	{"worker", workerCounterpart},
	{"exec", execCounterpart},
}

func (o *Options) tool(ctx context.Context, kind string, idempotent bool) (ToolReport, error) {
	name := "bench." + kind
	var other *counterpart
	for _, one := range counterparts {
		if one.adapter != kind {
			continue
		}
		var err error
		if other, err = one.begin(o, name); err != nil {
			return ToolReport{}, err
		}
		defer other.close()
	}
	many := *o
	if other.most > 0 {
		many.Clients = min(many.Clients, other.most)
	}
	config, problem := value.FromGo(other.config)
	if problem != nil {
		return ToolReport{}, fmt.Errorf("make the manifest: %s", problem)
	}
	if _, err := o.Client.RegisterTool(ctx, event.RegisterTool{Manifest: tools.Manifest{
		Name: name, Adapter: kind, Config: config, Cost: other.cost, Idempotent: idempotent, Concurrency: uint32(o.Clients), TimeoutMillis: 30_000,
	}}); err != nil {
		return ToolReport{}, err
	}
	defer o.deregister(name)

	report := ToolReport{Adapter: kind, Idempotent: idempotent, Agents: many.Clients}
	direct, err := o.direct(ctx, other)
	if err != nil {
		return report, fmt.Errorf("without the kernel: %w", err)
	}
	many.Steps = o.Steps
	if other.steps > 0 {
		many.Steps = min(o.Steps, other.steps)
	}
	items := make([]any, many.Steps)
	for i := range items {
		items[i] = other.args(i)
	}
	alone := *o
	alone.Clients = 1
	through, err := alone.instructions(ctx, name, name, items)
	if err != nil {
		return report, err
	}
	report.DirectMillis = millis(direct)
	report.ThroughMillis = through.P50Millis / float64(many.Steps)
	report.AddedMillis = report.ThroughMillis - report.DirectMillis
	all, err := many.instructions(ctx, name, name, items)
	report.PerSecond, report.Count = all.PerSecond, all.Count
	report.Errors, report.First = through.Errors+all.Errors, through.First
	if report.First == "" {
		report.First = all.First
	}
	return report, err
}

// direct is the median of calls without the kernel, one after the other.
func (o *Options) direct(ctx context.Context, other *counterpart) (time.Duration, error) {
	var latency load.Histogram
	warm := time.Now().Add(o.Warmup)
	for end := warm.Add(o.Duration); time.Now().Before(end); {
		began := time.Now()
		if err := other.direct(ctx); err != nil {
			return 0, err
		}
		if began.After(warm) {
			latency.Record(time.Since(began))
		}
	}
	return latency.Quantile(0.5), nil
}

// deregister tidies up, as end does.
func (o *Options) deregister(name string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, _ = o.Client.DeregisterTool(ctx, event.DeregisterTool{Name: name, Reason: "the benchmark is over"})
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
