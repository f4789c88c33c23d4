package kernel_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// RU-5: over any interleaving of calls, results, late ones, kills, suspensions,
// revocations, other limits and restarts, what is reserved and settled stays
// within every limit but for recorded overruns, and settlements are what the
// tools reported. CheckBudgets, by Check, adds it all up from the log.
func TestBudgetsUnderAnything(t *testing.T) {
	var waited, overran, outlived, refused int
	rapid.Check(t, func(rt *rapid.T) {
		s := kerneltest.New(rt, 2)
		pick := func(name string, n int) int { return rapid.IntRange(0, n-1).Draw(rt, name) }
		call := func() string {
			return paid([...]string{"GET", "POST"}[pick("method", 2)], [...]int{0, 5, 20, 45, 70}[pick("cost", 5)])
		}
		var ids []string
		var known []tools.Key
		begin := func() {
			child := func() string {
				own := [...]string{"", `,"budget":{"tokens":60}`, `,"budget":{"usd_micros":700,"warn_percent":50}`}[pick("own", 3)]
				return `{"grants":[{"effect":"ALLOW","action":"tool.call","resource":"**"}]` + own + `,"program":{"kind":"SEQ","payload":{"steps":[` + call() + "," + call() + `]}}}`
			}
			program := `{"kind":"DELEGATE","payload":{"children":[` + child() + "," + child() + `],"fail_fast":true}}`
			if pick("alone", 3) == 0 {
				program = `{"kind":"SEQ","payload":{"steps":[` + call() + "," + call() + "," + call() + `]}}`
			}
			ids = append(ids, s.Start(event.Define{
				Mode: "service", Grants: freely, Program: kerneltest.JSON(rt, program),
				Budget: &event.Budget{Tokens: 100, USDMicros: [...]uint64{0, 800}[pick("money", 2)], WallMillis: [...]int64{0, 9000}[pick("time", 2)]},
			}, nil))
		}
		begin()
		for range rapid.IntRange(5, 40).Draw(rt, "length") {
			known = append(known, s.Pending...)
			s.Pending = nil
			id := ids[pick("agent", len(ids))]
			var key tools.Key
			if len(known) > 0 {
				key = known[len(known)-1-pick("call", min(len(known), 6))]
			}
			switch pick("what", 12) {
			case 0:
				begin()
			case 1, 2, 3, 4:
				if key.Agent != 0 {
					used(s, key, [...]uint64{0, 1, 5, 20, 90}[pick("used", 5)])
				}
			case 5:
				if key.Agent != 0 {
					s.Result(key, false, [...]string{"TOOL_FAILED", "TOOL_UNREACHABLE", "OUTCOME_UNKNOWN"}[pick("failed", 3)])
				}
			case 6, 7:
				if key.Agent != 0 {
					s.Dispatch(key)
				}
			case 8:
				switch pick("end", 4) {
				case 0:
					s.Kill(id)
				case 1:
					s.Revoke(id)
				case 2:
					s.Command(event.AgentTrigger, event.Trigger{Agent: id, Trigger: "suspend", Force: true})
				case 3:
					s.Trigger(id, "resume")
				}
			case 9:
				more := [...]uint64{90, 150, 300, 0}[pick("limit", 4)]
				s.Command(event.BudgetSet, event.SetBudget{Agent: id, Tokens: &more, Reason: "because"})
			case 10:
				s.Pass(rapid.Int64Range(1, 8000).Draw(rt, "time passes"))
			case 11:
				s.Restart()
			}
			s.Settle()
		}
		for _, r := range s.All() {
			switch bus.Kind(r.Kind) {
			case bus.BudgetWaiting:
				waited++
			case bus.BudgetOverrun:
				overran++
			case bus.BudgetOutlived:
				outlived++
			case bus.BudgetExceeded:
				refused++
			}
		}
		s.Check()
	})
	t.Logf("%d calls waited, %d overran, %d outlived their agents, %d limits were exceeded", waited, overran, outlived, refused)
	if !testing.Short() {
		require.Positive(t, min(waited, overran, outlived, refused))
	}
}
