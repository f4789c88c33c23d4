package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

const (
	reactDir    = "../../examples/react/"
	reactAnswer = "Your 24.00 dollars for the teapot are on their way back to you."
)

// reactExample is a copy of the example whose tools are of this test's services, and
// whose agent thinks that a conversation is long soon; and its README, whose commands
// are carried out.
type reactExample struct {
	*processes
	dir  string
	left []string // commands of the README that were not carried out yet
	env  []string
}

func newReactExample(p *processes, model, shop string) *reactExample {
	r := &reactExample{processes: p, dir: p.t.TempDir()}
	require.NoError(p.t, os.CopyFS(filepath.Join(r.dir, "examples", "react"), os.DirFS(reactDir)))
	r.change("agent.yaml", "MAX_BYTES = 24000", "MAX_BYTES = 600") // a long conversation
	r.change("tools/model.yaml", "https://api.openai.com", model, "private: false", "private: true", "timeout_ms: 60000", "timeout_ms: 8000")
	r.change("tools/orders.yaml", "http://127.0.0.1:7790", shop, "timeout_ms: 5000", "timeout_ms: 30000")
	r.change("tools/refunds.yaml", "http://127.0.0.1:7790", shop, "timeout_ms: 5000", "timeout_ms: 30000")
	readme, err := os.ReadFile(reactDir + "README.md")
	require.NoError(p.t, err)
	for line := range strings.Lines(string(readme)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "omni ") && line != "omni dev" {
			r.left = append(r.left, line)
		}
	}
	urls := make([]string, len(p.api))
	for i := range p.api {
		urls[i] = p.url(i)
	}
	r.env = append(os.Environ(), serverVariable+"="+strings.Join(urls, ","))
	return r
}

// change replaces texts in a file, each of which must be there.
func (r *reactExample) change(name string, pairs ...string) {
	r.t.Helper()
	file := filepath.Join(r.dir, "examples", "react", name)
	content, err := os.ReadFile(file)
	require.NoError(r.t, err)
	for i := 0; i < len(pairs); i += 2 {
		require.Contains(r.t, string(content), pairs[i])
	}
	require.NoError(r.t, os.WriteFile(file, []byte(strings.NewReplacer(pairs...).Replace(string(content))), 0o600))
}

// next carries out the next command of the README, which must begin so.
func (r *reactExample) next(begins string, more ...string) string {
	r.t.Helper()
	require.NotEmpty(r.t, r.left)
	require.True(r.t, strings.HasPrefix(r.left[0], begins), "%q comes next, not %q", r.left[0], begins)
	line := r.left[0]
	r.left = r.left[1:]
	cmd := exec.CommandContext(r.t.Context(), "sh", "-c", strings.Join(append([]string{line}, more...), " "))
	cmd.Dir, cmd.Env = r.dir, r.env
	var stderr strings.Builder
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	require.NoError(r.t, err, "%s: %s%s", line, output, &stderr)
	return string(output)
}

// openShop starts the example's shop.
func openShop(t *testing.T) (url string) {
	t.Helper()
	cmd := exec.Command("python3", reactDir+"shop.py", "0")
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed: that is what it says
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line[strings.Index(line, "http://"):])
}

// paid is what the log says of calls that must not be made twice: the name of each
// dispatch, with the tool and with what it came to, and what was settled.
type paid struct {
	made, codes map[string]string
	settled     tools.Cost
	open        int // reservations that are not settled
}

func (p *processes) paid() paid {
	p.t.Helper()
	told := paid{made: make(map[string]string), codes: make(map[string]string)}
	requested := make(map[string]string)
	for record, err := range p.client.Records(p.t.Context(), api.LogQuery{}) {
		require.NoError(p.t, err)
		var body struct {
			Call      uint32 `json:"call"`
			Tool      string `json:"tool"`
			Code      string `json:"code"`
			Tokens    uint64 `json:"tokens"`
			USDMicros uint64 `json:"usd_micros"`
		}
		require.NoError(p.t, json.Unmarshal(record.Body, &body))
		name := fmt.Sprintf("%s-%d-%d", record.AgentID, record.Tick, body.Call)
		switch record.Kind {
		case "CALL_REQUESTED":
			requested[name] = body.Tool
		case "CALL_DISPATCHED":
			require.NotContains(p.t, told.made, name, "dispatched once")
			told.made[name] = requested[name]
		case "ACTION_EXECUTED", "ACTION_FAILED":
			if told.made[name] != "" {
				told.codes[name] = body.Code
			}
		case "BUDGET_RESERVED":
			told.open++
		case "BUDGET_SETTLED":
			told.open--
			told.settled.Tokens += body.Tokens
			told.settled.USDMicros += body.USDMicros
		}
	}
	return told
}

// TO-4, TO-7, TO-16: an agent talks with a model, and two leaders are killed over it:
// one while the model is at work, one while a person is asked. Whatever the model was
// asked is one dispatch on record, with a name of its own; what nobody knows the end
// of is on record as such, and the script decides; the refund is made once, after
// it was agreed to; budgets and the log are right, and the key is nowhere.
func TestReactSurvivesItsLeaders(t *testing.T) {
	const key = "a-key-that-nobody-else-says"
	model := newRecordedModel(t, reactDir+"replies.json", key, `"state":"delivered"`)
	shop := openShop(t)
	t.Setenv("OMNI_SECRET_MODEL_KEY", key)
	t.Setenv("OMNI_SECRET_MODEL_KEY_FOR", model.URL)
	p := newProcesses(t, []string{t.TempDir(), t.TempDir(), t.TempDir()}, smallFlags(testStore())...)
	p.startAll()
	p.alike()
	r := newReactExample(p, model.URL, shop)
	assert.Contains(t, r.next("omni agent check "), "nothing is wrong")
	for range 3 {
		r.next("omni tool register -f ")
	}
	said := p.run("tool", "test", "model.chat", "--args", `{"messages": [{"role": "user", "content": "\"refunded_cents\":2400"}]}`)
	assert.Contains(t, said, reactAnswer, "no leader dies")

	var started struct {
		AgentID string `json:"agent_id"`
	}
	require.NoError(t, json.Unmarshal([]byte(r.next("omni agent start ", "-o json")), &started))
	agent := started.AgentID
	r.env = append(r.env, "ID="+agent)
	select {
	case <-model.held:
	case <-time.After(time.Minute):
		require.Fail(t, "the model was not asked")
	}
	killed := p.leader()
	p.kill(killed) // the model is at work
	number := p.asksFor(agent)
	p.start(killed)
	p.alike()
	p.kill(p.leader()) // a person is asked
	p.leader()
	require.Contains(t, r.next("omni escalation list "), "make")
	r.env = append(r.env, fmt.Sprintf("NUMBER=%d", number))
	r.next("omni escalation approve ")
	p.agreeUntilDone(agent)
	p.startAll()
	p.alike()
	assert.Contains(t, r.next("omni agent get "), reactAnswer)
	r.next("omni agent budget ")
	assert.Contains(t, r.next("omni memory get "), "without its lid")
	assert.Contains(t, r.next("omni log "), "ESCALATION_DECIDED")
	assert.Empty(t, r.left)

	p.requirePaidOnce(agent, model, shop)
	assert.Contains(t, p.run("log", "audit"), "the log keeps to the rules")
	p.stopAll()
	for i := range p.dirs {
		p.hidden(p.dirs[i], key)
	}
	p.hidden(p.output, key)
}

// asksFor waits until a person is asked for what an agent wants.
func (p *processes) asksFor(agent string) (number uint64) {
	p.t.Helper()
	for end := time.Now().Add(90 * time.Second); number == 0; time.Sleep(20 * time.Millisecond) {
		page, err := p.client.Escalations(p.t.Context(), api.EscalationQuery{Agent: agent})
		if err == nil && len(page.Escalations) > 0 {
			number = page.Escalations[0].Escalation
		}
		got, err := p.client.Agent(p.t.Context(), agent)
		if err == nil && client.Finished(got) || time.Now().After(end) {
			require.Fail(p.t, "nobody is asked", p.run("log", "--agent", agent))
		}
	}
	return number
}

// agreeUntilDone waits for the agent's answer. Should a refund not have been made, since
// a leader went just then, the model asks for it once more, and is told yes.
func (p *processes) agreeUntilDone(agent string) {
	p.t.Helper()
	var got api.Agent
	require.Eventually(p.t, func() bool {
		page, err := p.client.Escalations(p.t.Context(), api.EscalationQuery{Agent: agent})
		if err != nil {
			return false
		}
		for _, open := range page.Escalations {
			_, _ = p.client.Decide(p.t.Context(), event.Decide{Escalation: open.Escalation, Approve: true}) // it may be over by now
		}
		got, err = p.client.Agent(p.t.Context(), agent)
		return err == nil && client.Finished(got)
	}, 90*time.Second, 20*time.Millisecond)
	require.NotNil(p.t, got.Result, "%+v", got)
	assert.Equal(p.t, reactAnswer, got.Result.ToGo())
}

// requirePaidOnce compares what the services were asked with the log.
func (p *processes) requirePaidOnce(agent string, model *recordedModel, shop string) {
	p.t.Helper()
	var told paid
	require.Eventually(p.t, func() bool {
		told = p.paid()
		return told.open == 0 // what nobody knows the end of is settled at its deadline
	}, time.Minute, 100*time.Millisecond)
	seen := make(map[string]bool)
	remembered, longest, shortened := false, 0, false
	for _, q := range model.questions() {
		assert.False(p.t, seen[q.key], "%s was asked twice", q.key)
		seen[q.key] = true
		assert.Equal(p.t, "model.chat", told.made[q.key], "%s is on record", q.key)
		shortened = shortened || q.messages < longest
		longest = max(longest, q.messages)
		remembered = remembered || strings.Contains(q.system, "without its lid")
	}
	assert.True(p.t, remembered, "the script began again, with what the agent remembers")
	assert.True(p.t, shortened, "what was long was made shorter")
	var answered, unknown uint64
	for name, tool := range told.made {
		switch code := told.codes[name]; {
		case tool != "model.chat" || !strings.HasPrefix(name, agent):
		case code == "":
			answered++
			assert.True(p.t, seen[name], "an answer that the model gave")
		case code == "OUTCOME_UNKNOWN":
			unknown++
		}
	}
	assert.GreaterOrEqual(p.t, unknown, uint64(1), "the one that was under way")
	assert.Equal(p.t, tools.Cost{
		Tokens: answered*modelTokens + unknown*13000, USDMicros: answered*modelUSDMicros + unknown*2400,
	}, told.settled, "%d answers, and what %d may have come to", answered, unknown)

	response, err := http.Get(shop + "/refunds")
	require.NoError(p.t, err)
	defer response.Body.Close()
	var refunds []struct {
		Order, Cents int
		Key          string
	}
	require.NoError(p.t, json.NewDecoder(response.Body).Decode(&refunds))
	require.Len(p.t, refunds, 1)
	assert.Equal(p.t, []int{17, 2400}, []int{refunds[0].Order, refunds[0].Cents})
	assert.Equal(p.t, "refunds.make", told.made[refunds[0].Key])
}
