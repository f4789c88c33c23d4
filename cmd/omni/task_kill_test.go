package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// TO-12: a question waits for a person while the leader is killed. The next one lists
// it, and takes the answer, by the schema of the tool as it was called, though there is
// another by then: once. The log is in order.
func TestTaskSurvivesItsLeader(t *testing.T) {
	p := newProcesses(t, []string{t.TempDir(), t.TempDir(), t.TempDir()}, smallFlags(testStore())...)
	p.startAll()
	p.alike()
	register := func(answer string) {
		file := filepath.Join(t.TempDir(), "ask.yaml")
		require.NoError(t, os.WriteFile(file, fmt.Appendf(nil,
			"name: ask\nadapter: human\ninput: {type: object, properties: {id: {type: integer}}, required: [id]}\noutput: {type: %s}\nresource: [id]\ntimeout_ms: 2592000000\n", answer), 0o600))
		p.run("tool", "register", "-f", file)
	}
	register("boolean")
	answered, rejected := p.callOf("ask", 1), p.callOf("ask", 2)
	p.tasks(2)
	register("string")
	killed := p.leader()
	p.kill(killed)
	p.tasks(2)
	task := answered + "-1-1"
	said := p.refused(p.client.CompleteTask(t.Context(), task, value.AppendString(nil, "yes")))
	assert.Equal(t, []string{"INVALID_VALUE", "result", "must be of type boolean"}, []string{said.Code, said.Field, said.Rule})
	p.run("task", "complete", task, "--result", "true")
	p.run("task", "reject", rejected+"-1-1", "--reason", "not today")
	assert.Equal(t, true, p.answerOf(answered)["value"])
	assert.Equal(t, "TASK_REJECTED", p.answerOf(rejected)["code"])
	assert.Equal(t, "STALE_RESULT", p.refused(p.client.CompleteTask(t.Context(), task, value.False)).Code)
	p.tasks(0)

	p.start(killed)
	p.alike()
	delivered := 0
	for record, err := range p.client.Records(t.Context(), api.LogQuery{}) {
		require.NoError(t, err)
		assert.NotEqual(t, "CALL_DISPATCHED", record.Kind, "nobody makes the call")
		if record.Kind == "RESULT_DELIVERED" && record.AgentID == answered {
			delivered++
		}
	}
	assert.Equal(t, 1, delivered)
	assert.Contains(t, p.run("log", "audit"), "the log keeps to the rules")
	p.stopAll()
}

func (p *processes) refused(_ api.Done, err error) *api.Error {
	p.t.Helper()
	var said *api.Error
	require.ErrorAs(p.t, err, &said)
	return said
}

// tasks waits until so many tasks wait.
func (p *processes) tasks(want int) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		page, err := p.client.Tasks(p.t.Context(), api.TaskQuery{})
		return err == nil && len(page.Tasks) == want
	}, 30*time.Second, 20*time.Millisecond)
}
