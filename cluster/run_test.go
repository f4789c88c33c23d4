package cluster_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/runs"
)

// A run with three tasks and a budget survives the death of its leader at every
// event of its own: as soon as the leader knows that the event is committed, when
// another node knows it too, and with everybody at once, to come back from
// snapshots. Tasks run once, and accounts are exact (RU-1, RU-2, RU-5, TO-4).
func TestRunSurvivesItsLeadersDeath(t *testing.T) {
	quiet := undisturbedRun(t)
	var exact, unknown atomic.Int32
	deaths := 0
	t.Run("at", func(t *testing.T) {
		for index := range quiet.events + 1 {
			for _, kill := range ways {
				deaths++
				t.Run(fmt.Sprintf("%d, %s", index, kill.name), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						told := buy(t, index%2 == 0, func(s *telling, over context.Context) { kill.at(s, over, index) })
						told.judge(t, &unknown)
						require.Len(t, told.deaths, 1)
						if told.deaths[0] == told.base+index {
							exact.Add(1)
						}
					})
				})
			}
		}
	})
	require.Greater(t, uint64(exact.Load()), quiet.events/2)
	require.Positive(t, unknown.Load())
	t.Logf("%d leaders died, %d of them having applied exactly that much; %d orders were left unknown", deaths, exact.Load(), unknown.Load())
}

// ways are how a leader dies at an event.
var ways = [...]struct {
	name string
	at   func(s *telling, over context.Context, events uint64)
}{
	{"nobody else knows", (*telling).oneDies},
	{"others know", (*telling).oneDiesKnown},
	{"everybody, with snapshots", (*telling).powerCut},
}

// oneDiesKnown is oneDies when a follower has applied as much.
func (s *telling) oneDiesKnown(over context.Context, events uint64) {
	leader := s.leader()
	if events > 0 {
		s.await(over, (leader+1)%3, s.base+events)
	}
	s.deaths = append(s.deaths, s.crash(leader))
	<-over.Done()
	s.start(leader)
}

// powerCut ends every node once the leader has applied so many events, each with a
// snapshot of where it is, and starts them again at once.
func (s *telling) powerCut(over context.Context, events uint64) {
	leader := s.leader()
	if events > 0 {
		s.await(over, leader, s.base+events)
	}
	for i := range 3 {
		require.NoError(s.t, s.node(i).Snapshot(s.t.Context()))
	}
	s.deaths = append(s.deaths, s.crash(leader))
	s.crash((leader + 1) % 3)
	s.crash((leader + 2) % 3)
	for i := range 3 {
		s.start(i)
	}
}

// bought is one run, told.
type bought struct {
	*telling
	shop *shop
}

const (
	runID       = "018f4e5c-0000-7000-8000-0000000000bb"
	firstLimit  = 80 // of tokens: of which 70 % are used up after the second task
	secondLimit = 200
)

// undisturbedRun is the run when nobody dies.
func undisturbedRun(t *testing.T) *bought {
	var quiet *bought
	t.Run("nobody dies", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			quiet = buy(t, true, func(*telling, context.Context) {})
			var unknown atomic.Int32
			quiet.judge(t, &unknown)
			require.Zero(t, unknown.Load())
			t.Logf("%d events", quiet.events)
		})
	})
	require.NotNil(t, quiet)
	return quiet
}

// buy carries the run out on a cluster of its own.
func buy(t *testing.T, fast bool, killer func(s *telling, over context.Context)) *bought {
	b := &bought{shop: newShop()}
	b.telling = &telling{crew: newCrewWith(t, testStore(), fast, func(_ int, c *cluster.Config) {
		registry, err := tools.New(tools.Options{}, b.shop)
		require.NoError(t, err)
		c.Tools = registry
	})}
	b.perform(b.operate, killer)
	return b
}

// operate is what the operator does: plan and start the run, and, when the budget's
// warning has paused it, give it more and resume it.
func (b *bought) operate() {
	b.command(event.RunPlan, purchase(b.t))
	b.until("the run is PAUSED", func() bool { return b.run().State == runs.Paused })
	more := uint64(secondLimit)
	b.command(event.BudgetSet, event.SetBudget{Agent: runID, Tokens: &more, Reason: "go on"})
	b.command(event.RunResume, event.ResumeRun{Run: runID, Reason: "there is more"})
	b.until("the run is over", func() bool { return b.run().State.Over() })
}

// run is what the newest state says of it; while there is none, nothing.
func (b *bought) run() *runs.Run {
	if run := b.state().Runs.Get(1); run != nil {
		return run
	}
	return &runs.Run{}
}

// purchase plans the run: three tasks of one program, each of which orders a thing,
// which must not be ordered twice, and asks for its item.
func purchase(t *testing.T) event.PlanRun {
	t.Helper()
	program, err := os.ReadFile(filepath.Join("testdata", "purchase.json"))
	require.NoError(t, err)
	task := func(name string, uses ...string) event.RunTask {
		return event.RunTask{Name: name, Input: kerneltest.Value(t, name), Uses: uses}
	}
	return event.PlanRun{
		Name: "purchase", Goal: "buy three things", Start: true,
		Config: kerneltest.Value(t, map[string]any{"service": "http://shop.test"}),
		Agent: event.Define{
			ID: runID, Grants: kerneltest.Everything(), Program: kerneltest.JSON(t, string(program)),
			Budget: &event.Budget{Tokens: firstLimit, WarnPercent: 70},
		},
		Tasks: []event.RunTask{task("a"), task("b", "a"), task("c", "a", "b")},
	}
}

// decoded is the log with the term of each record.
type decoded struct {
	kerneltest.Record
	term uint64
}

func (b *bought) log(t *testing.T) (all []decoded) {
	for _, raw := range b.blocks(0) {
		block, err := logging.Decode(raw)
		require.NoError(t, err)
		for _, r := range kerneltest.Decode(t, raw) {
			all = append(all, decoded{r, block.Term})
		}
	}
	return all
}
