package show

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Where no frame can be drawn there is a line for each change.
func TestChangesOfARunAreLines(t *testing.T) {
	r := midway()
	r.RetryAt = 20_000
	for _, c := range []struct{ kind, body, want string }{
		{"RUN_PLANNED", `{"tasks":[]}`, "the plan has 3 tasks: fetch, translate, sum"},
		{"RUN_TRANSITION", `{"from":"PLANNED","to":"APPLYING","trigger":"start","cause":"operator","reason":"go"}`, "APPLYING start (operator): go"},
		{"INVALID_RUN_TRANSITION", `{"from":"KILLED","trigger":"resume","cause":"operator"}`, "refused: resume (operator) of a run that is KILLED"},
		{"RUN_PAUSE_REQUESTED", `{"cause":"governance","reason":"a gate"}`, "a pause is asked for (governance): a gate"},
		{"RUN_PAUSE_REQUESTED", `{}`, "the pause is taken back"},
		{"RUN_TASK_STARTED", `{"task":1}`, "task 2/3 translate begins"},
		{"RUN_TASK_COMPLETED", `{"task":0}`, `task 1/3 fetch done in 1.25s: "forty-two pages"`},
		{"RUN_TASK_FAILED", `{"task":1,"code":"KILLED","message":"by\nan operator"}`, "task 2/3 translate failed: KILLED: by an operator"},
		{"RUN_TASK_STARTED", `{"task":7}`, "task 8 RUN_TASK_STARTED"},
		{"BUDGET_WARNING", `{"of":"tokens","limit":4000,"used":3200,"reserved":100}`, "warning: 3200 tokens of 4000 tokens are used, 100 tokens reserved"},
		{"BUDGET_EXCEEDED", `{"of":"usd_micros","limit":2500000,"used":2400000,"wanted":200000}`, "budget exceeded: $2.40 of $2.50 are used, $0.20 wanted"},
		{"BUDGET_EXCEEDED", `{"of":"wall_ms","limit":60000,"used":60001}`, "budget exceeded: 1m00s of 1m00s are used"},
		{"BUDGET_CHANGED", `{"tokens":5000,"usd_micros":10000,"wall_ms":3600000,"warn_percent":70,"reason":"longer pages"}`,
			"the budget is another one: 5000 tokens, $0.01, 1h00m, warning at 70 %: longer pages"},
		{"BUDGET_CHANGED", `{"warn_percent":70}`, "the budget is another one: no limit"},
		{"LIFECYCLE", `{"from":"ACTIVE","to":"FAULTED","code":"TOOL_TIMEOUT"}`, "task translate failed in passing: TOOL_TIMEOUT, tried again at 1970-01-01T00:00:20.000Z"},
		{"LIFECYCLE", `{"from":"ACTIVE","to":"WAITING"}`, ""},
		{"BUDGET_SETTLED", `{"tokens":4}`, ""},
		{"RUN_TRANSITION", `[]`, ""},
	} {
		want := ""
		if c.want != "" {
			want = "1970-01-01T00:00:05.000Z " + c.want + "\n"
		}
		assert.Equal(t, want, page(func(p *tell.Page) {
			RunHappened(p, r, api.Record{Kind: c.kind, AtMillis: 5000, Body: json.RawMessage(c.body)})
		}), c.kind)
	}
	assert.Equal(t, "1970-01-01T00:00:10.000Z APPLYING start (operator), 1 of 3 tasks done\n", page(func(p *tell.Page) { RunStands(p, r) }))
	assert.Equal(t, "1970-01-01T00:00:03.000Z PLANNING, 0 of 0 tasks done\n",
		page(func(p *tell.Page) { RunStands(p, api.Run{State: "PLANNING", DefinedAt: 3000}) }))
}

// What happens next is said of every state, with the command where there is one.
func TestNext(t *testing.T) {
	r := midway()
	for _, c := range []struct {
		change func(r *api.Run)
		want   string
	}{
		{func(r *api.Run) { r.State = "PLANNING" }, "its planner makes the plan; then start it with: omni run start ID"},
		{func(r *api.Run) { r.Start = true }, "its planner makes the plan, and it starts"},
		{func(r *api.Run) { r.Pausing = "budget" }, "its planner ends first; then it is PAUSED (omni run resume ID takes that back)"},
		{func(r *api.Run) { r.State = "PLANNED" }, "start it with: omni run start ID"},
		{func(r *api.Run) { r.State = "APPLYING" }, "task translate ends first; then it is PAUSED (now: omni run pause ID --force; not at all: omni run resume ID)"},
		{func(r *api.Run) { r.Pausing = "" }, "task translate is running; follow it with: omni run watch ID"},
		{func(r *api.Run) { r.RetryAt = 1000 }, "task translate failed in passing, and is tried again at 1970-01-01T00:00:01.000Z"},
		{func(r *api.Run) { r.State = "PAUSED" }, "task translate is frozen, and then asks again for what it waited for; go on with: omni run resume ID"},
		{func(r *api.Run) { r.Tasks = nil }, "go on with: omni run resume ID"},
		{func(r *api.Run) { r.Last.Cause = "budget" }, "give it more with: omni run budget ID; then go on with: omni run resume ID"},
		{func(r *api.Run) { r.State = "APPLYING" }, "follow it with: omni run watch ID"},
		{func(r *api.Run) { r.State = "KILLED" }, "it is over; what went wrong: omni agent faults ID"},
		{func(r *api.Run) { r.State = "COMPLETED" }, "it is over"},
	} {
		r.RunID = "ID"
		c.change(&r)
		assert.Equal(t, c.want, Next(r))
	}
}
