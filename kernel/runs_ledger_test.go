package kernel_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/runs"
)

// touched lists the subjects of the newest block.
func touched(s *kerneltest.Sim) (subjects []uint32) {
	b, err := logging.Decode(s.Blocks[len(s.Blocks)-1])
	require.NoError(s.T, err)
	for i := range b.Touched() {
		subject, _ := b.TouchedAt(i)
		subjects = append(subjects, subject)
	}
	return subjects
}

// RU-4: a block that is about an agent of a run's tree, however deep and whether or
// not it is waited for, belongs to the run's ledger; one about anybody else does
// not, and neither does a fork's.
func TestLedger(t *testing.T) {
	s := kerneltest.New(t, 2)
	lasting := `,"mode":"service"`
	grandchild := delegateTo(`,"detach":true`, kid(callEcho, allowEcho, lasting))
	root := inSeq(letDo("kids", delegateTo(`,"detach":true`, kid(grandchild, allowTools+`,`+allowAgents, lasting+`,"max_depth":1`))), asks)
	bystander := service(s, literal, nil) // agent 1
	id := begun(s, step(s, "only", root))
	assert.Equal(t, []uint32{2, 3, 4, logging.RunSubject(2)}, touched(s), "root, child, grandchild")
	require.Equal(t, 1, s.Count(bus.RunTaskStarted))
	other := begun(s, step(s, "only", asks)) // agent 5
	assert.Equal(t, []uint32{5, logging.RunSubject(5)}, touched(s))
	fork := forked(s, now(s, id)) // agent 6
	assert.NotContains(t, touched(s), logging.RunSubject(2))
	for agent, run := range map[uint32]uint32{1: 0, 2: 2, 3: 2, 4: 2, 5: 5, 6: 0} {
		assert.Equal(t, run, s.State().Agents.Get(agent).Run, "agent %d", agent)
	}

	s.Send(bystander, 1)
	assert.Equal(t, []uint32{1}, touched(s))
	s.Send(kerneltest.IDOf(s.State().Agents.Get(4).Identity.ID), 1)
	assert.Equal(t, []uint32{4, logging.RunSubject(2)}, touched(s))
	s.Kill(fork)
	assert.Equal(t, []uint32{6}, touched(s))
	s.Restart()
	s.Kill(id)
	require.Equal(t, runs.Killed, s.Run(id).State)
	s.Settle()
	require.NotEmpty(t, s.Command(event.RunResume, event.ResumeRun{Run: other}).Refusal)
	assert.Equal(t, []uint32{5, logging.RunSubject(5)}, touched(s), "what is refused is on record, and in the ledger")
	s.Check()

	ledger := s.State().Runs.Ledger(2)
	assert.NotEqual(t, runs.Ledger{Agent: 2}, ledger)
	assert.Equal(t, runs.Ledger{Agent: 1}, s.State().Runs.Ledger(1), "no run, no ledger")
}
