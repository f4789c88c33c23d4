package kernel_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
)

// AU-3, AU-4: in any history of people, tokens, certificates, nodes and nobody at all,
// with roles that change meanwhile, exactly those are refused that a second model
// refuses, on every replica, and a kernel that starts from a snapshot goes on alike.
func TestGuardedHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := kerneltest.NewGuarded(t, 2, 60, drawn{t})
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			if rapid.IntRange(0, 49).Draw(t, "restore") == 49 {
				h.Restart()
			}
			h.Step()
		}
		h.Check()
	})
}

// The generator reaches every record about principals, and both refusals.
func TestGuardedHistoriesReachEverything(t *testing.T) {
	kinds := make(map[bus.Kind]int)
	codes := make(map[failure.Code]int)
	for seed := range uint64(24) {
		h := kerneltest.NewGuarded(t, 1, 60, kerneltest.NewSeeded(seed))
		h.Run(300)
		for _, r := range h.All() {
			kinds[bus.Kind(r.Kind)]++
			if b, ok := r.Content.(*event.Outcome); ok {
				codes[b.Refusal.Code]++
			}
		}
	}
	for kind := bus.AuthBootstrapped; kind <= bus.OperatorOrdered; kind++ {
		if kind == bus.CredentialsForgotten { // it takes thousands
			continue
		}
		assert.NotZero(t, kinds[kind], kernel.KindName(kind))
	}
	for _, code := range []failure.Code{failure.Unauthenticated, failure.Forbidden, failure.VersionConflict, failure.AlreadyExists} {
		assert.NotZero(t, codes[code], string(code))
	}
}
