package main

import (
	"context"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// shaky is std/1 under another name. Whoever looks it up in Apply panics, until the
// file that the variable names is there.
const (
	shakyName     = "shaky/1"
	shakyVariable = "OMNI_TEST_SHAKY"
)

type shaky struct{ evaluator.Evaluator }

func (shaky) Name() string { return shakyName }

func shakyLookup() (evaluator.Evaluator, bool) {
	if strings.Contains(string(debug.Stack()), "fsm.(*FSM).ApplyBatch") {
		file, err := os.OpenFile(os.Getenv(shakyVariable), os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_ = file.Close()
			panic("planted in Apply")
		}
	}
	std, ok := registry.Lookup("std/1")
	return shaky{std}, ok
}

// NO-1: nobody recovers from a panic of Raft or of what it drives: the process ends
// with it. Started again it tells that, applies what it had not, and works.
func TestRaftsPanicEndsTheProcess(t *testing.T) {
	t.Setenv(shakyVariable, t.TempDir()+"/panicked")
	p := newProcesses(t, []string{t.TempDir()})
	var err error
	p.omni, err = exec.LookPath("omni-fragile")
	require.NoError(t, err)
	p.start(0)
	p.node(0, inState("Running"))
	ended := make(chan error, 1)
	process := p.nodes[0]
	brief, cancel := context.WithTimeout(t.Context(), time.Minute)
	go func() {
		ended <- process.Wait()
		cancel()
	}()
	program, problem := value.FromJSON([]byte(`{"kind":"LITERAL","payload":{"value":1}}`), 1<<10)
	require.Nil(t, problem)
	_, err = p.client.Define(brief, event.Define{Name: "late", Evaluator: shakyName, Program: program})
	require.Error(t, err, "nobody answers")
	var exit *exec.ExitError
	require.ErrorAs(t, <-ended, &exit)
	require.Equal(t, 2, exit.ExitCode(), "the runtime's own end")
	p.nodes[0] = nil
	require.Positive(t, p.said(0, "planted in Apply"))
	require.Zero(t, p.said(0, "a component panicked"))

	p.start(0)
	state := p.node(0, inState("Running"))
	require.Equal(t, []any{"Running", false}, []any{state.Before.State, state.Before.Clean})
	page, err := p.client.Agents(t.Context(), api.AgentQuery{})
	require.NoError(t, err)
	require.Len(t, page.Agents, 1, "it was committed, and is applied now")
	require.Equal(t, "late", page.Agents[0].Name)
	_, err = p.client.Define(t.Context(), event.Define{})
	require.NoError(t, err)
}
