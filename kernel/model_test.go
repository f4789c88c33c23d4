package kernel_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
)

// modelledEvents is what TestModel takes at least, and with the race detector,
// under which everything takes ten times as long.
const (
	modelledEvents     = 100_000
	modelledEventsRace = 5_000
)

// LC-1 … LC-13, EX-2 … EX-8, ME-1, ME-2, PE-1 … PE-4, TO-2, TO-4, TO-5, DE-1 …
// DE-4, FA-1 … FA-4: a second model of the whole kernel, which is as plain as it
// can be, agrees with it after every event on what the event was answered, on
// every agent's state, outcome, tick, memory and mailbox, on who waits for what
// and until when, and on which tokens are in force; also through a snapshot and
// its restore at random points. OMNI_MODEL_EVENTS asks for more of them.
func TestModel(t *testing.T) {
	least, mostSteps := modelledEvents, 1500
	if raceDetector {
		least, mostSteps = modelledEventsRace, 150
	}
	if asked, err := strconv.Atoi(os.Getenv("OMNI_MODEL_EVENTS")); err == nil {
		least = asked
	}
	events := 0
	for events < least && !t.Failed() {
		rapid.Check(t, func(t *rapid.T) {
			h := kerneltest.NewModelled(t, 500, drawn{t})
			if rapid.IntRange(0, 2).Draw(t, "about runs") == 2 {
				h.AboutRuns()
			}
			for range rapid.IntRange(1, mostSteps).Draw(t, "steps") { // drawn small rather than large
				if rapid.IntRange(0, 49).Draw(t, "restore") == 49 {
					h.Restart()
					h.CheckCounts()
				}
				h.Step()
			}
			events += len(h.Log)
		})
	}
	t.Logf("%d events", events)
}

// What the model is compared over is all that the kernel does, but for what it
// does not know: sessions, quarantine, segments of the log, agents that leave the queue because
// an event's work was spent, budgets, which CheckBudgets adds up, principals, which have a model of their own (TestGuardedHistories), and forks, which are held to what their sources did (TestForksDoWhatTheirSourcesDid).
func TestModelReachesEverything(t *testing.T) {
	kinds := make(map[bus.Kind]int)
	for seed := range uint64(40) {
		h := kerneltest.NewModelled(t, 500, kerneltest.NewSeeded(seed))
		h.Run(250)
		for _, r := range h.All() {
			kinds[bus.Kind(r.Kind)]++
		}
	}
	for _, kind := range kernel.Kinds() {
		budget := kind >= bus.BudgetOpened && kind <= bus.BudgetClock || kind >= bus.AuthBootstrapped && kind <= bus.OperatorOrdered
		if kind != bus.Duplicate && kind != bus.Quarantine && kind != bus.LogArchived && (kind < bus.Forked || kind > bus.MemoryForked) && !budget {
			assert.NotZero(t, kinds[kind], kernel.KindName(kind))
		}
	}
}
