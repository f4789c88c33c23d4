package show

import (
	"fmt"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// midway is a run that is at its second task, and has spent some of its budget.
func midway() api.Run {
	return api.Run{
		RunID: "018f4e5c-0000-7000-8000-000000000001", Name: "nightly", State: "APPLYING", Goal: "a report for the EU region\n", Total: 3, Done: 1,
		StartedAt: 10_000, Last: &api.RunStep{From: "PLANNED", Trigger: "start", Cause: "operator", AtMillis: 10_000},
		Tasks: []api.TaskProgress{
			{Name: "fetch", State: "DONE", StartedAt: 10_000, EndedAt: 11_250, Result: value.Raw(value.AppendString(nil, "forty-two pages"))},
			{Name: "translate", State: "RUNNING", StartedAt: 11_250, Retries: 2},
			{Name: "sum", State: "WAITING", Uses: []string{"fetch", "translate"}},
		},
		Waits: []api.Wait{{For: "call", Tool: "http.request", Deadline: 30_000}},
		Budget: &api.Account{
			Tokens: api.Spent{Limit: 4000, Settled: 1240, Reserved: 900}, USDMicros: api.Spent{Limit: 2_500_000, Settled: 2_250_000},
			Wall: api.SpentTime{Limit: 300_000, Used: 5000, Running: true}, WarnPercent: 80,
		},
	}
}

func drawn(columns, rows int, ascii bool, r api.Run) string {
	f := RunFrame{Columns: columns, Rows: rows, ASCII: ascii, Now: 15_400}
	return "\n" + strings.Join(f.Lines(r), "\n") + "\n"
}

func TestARunIsDrawn(t *testing.T) {
	assert.Equal(t, `
nightly  APPLYING  1 of 3 tasks  5.4s
018f4e5c-0000-7000-8000-000000000001
a report for the EU region

✔ fetch      done       1.2s  "forty-two pages"
⠧ translate  running    4.2s  retry 2, waits for an answer of http.request, until 1970-01-01T00…
· sum        waiting

tasks    █████████████░░░░░░░░░░░░░░░░░░░░░░░░░░░  1 of 3
tokens   ████████████▒▒▒▒▒▒▒▒▒░░░░░░░░░░░│░░░░░░░  1240 + 900 reserved of 4000
dollars  ████████████████████████████████████░░░░  $2.25 of $2.50
time     █░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░│░░░░░░░  5.0s of 5m00s
`, drawn(96, 40, false, midway()))
	assert.Equal(t, `
nightly  APPLYING  1 of 3 tasks  5.4s
018f4e5c-0000-7000-8000-000000000001
a report for the EU region

* fetch      done       1.2s  "forty-two pages"
\ translate  running    4.2s  retry 2, waits for~
. sum        waiting

tasks    ###........  1 of 3
tokens   ###++...|..  1240 + 900 reserved of 4000
dollars  #########..  $2.25 of $2.50
time     #.......|..  5.0s of 5m00s
`, drawn(49, 40, true, midway()))
	assert.Equal(t, `
nightly  APPLYING
a report for the EU …

✔ fetch     done
⠧ transla…  running
· sum       waiting

tasks    1 of 3
tokens   1240 + 900 …
dollars  $2.25 of $2…
time     5.0s of 5m0…
`, drawn(21, 40, false, midway()))
}

// What matters least is left out of a frame that has few rows; of a long plan, what is
// far from the task that is next.
func TestLowFrames(t *testing.T) {
	r := midway()
	r.State, r.Pausing = "APPLYING", "governance"
	assert.Contains(t, drawn(80, 40, false, r), "next: task translate ends first; then it is PAUSED (now: omni run pause\n018f4e5c-0000-7000-8000-000000000001 --force; not at all: omni run resume\n018f4e5c-0000-7000-8000-000000000001)\n")
	low := drawn(80, 8, false, r)
	assert.NotContains(t, low, "next:")
	assert.Contains(t, low, "translate")
	assert.Contains(t, low, "time ")
	assert.NotContains(t, low, "a report")

	r = api.Run{RunID: "r", State: "APPLYING", Total: 100, Done: 40}
	for i := range 100 {
		r.Tasks = append(r.Tasks, api.TaskProgress{Name: fmt.Sprint("task", i), State: "WAITING"})
	}
	long := drawn(60, 14, true, r)
	assert.Contains(t, long, "  38 before\n")
	assert.Contains(t, long, ". task40  waiting\n")
	assert.Contains(t, long, " after\n")
	r.Done = 100
	assert.Contains(t, drawn(60, 14, true, r), "task99")
	assert.NotContains(t, drawn(60, 14, true, r), "after\n")
}

// A run that stands still says why, and what to do.
func TestStillRunsSayWhatToDo(t *testing.T) {
	r := midway()
	r.State = "PAUSED"
	r.Last = &api.RunStep{From: "APPLYING", Trigger: "pause", Cause: "budget", Reason: "the budget of usd_micros is nearly used up", AtMillis: 14_000}
	got := drawn(100, 40, true, r)
	assert.Contains(t, got, "\nPAUSED: pause (budget): the budget of usd_micros is nearly used up\nnext: task translate is frozen")
	assert.Contains(t, strings.ReplaceAll(got, "\n", " "), "give it more with: omni run budget "+r.RunID+"; then go on with: omni run resume "+r.RunID)
	assert.Contains(t, got, "= translate  frozen     2.8s")
	r.State, r.Tasks[1].State, r.Tasks[1].Code, r.Tasks[1].Message, r.Tasks[1].EndedAt = "FAILED", "FAILED", "TOOL_FAILED", "no\x1b[2J such\nplace", 12_000
	got = drawn(100, 40, true, r)
	assert.Contains(t, got, `! translate  failed     0.8s  TOOL_FAILED: no [2J such place`)
	assert.Contains(t, got, "next: it is over; what went wrong: omni agent faults "+r.RunID)
}

// Colours tell how near a limit is.
func TestBarsAreColoured(t *testing.T) {
	f := RunFrame{Style: tell.Style{On: true}, Columns: 60, Rows: 40}
	for used, dress := range map[uint64]func(string) string{10: f.Good, 80: f.Warn, 101: f.Bad} {
		r := api.Run{Budget: &api.Account{Tokens: api.Spent{Limit: 100, Settled: used}, WarnPercent: 80}}
		line := f.bars(r)[0]
		assert.Contains(t, line, dress(strings.Repeat("█", cellsOf(used, 100, 60-6-len(fmt.Sprintf("%d of 100", used))-4))), used)
	}
	assert.Equal(t, []int{0, 1, 9, 9, 10, 10}, []int{
		cellsOf(0, 1000, 10), cellsOf(1, 1000, 10), cellsOf(950, 1000, 10), cellsOf(999, 1000, 10), cellsOf(1000, 1000, 10), cellsOf(1<<60, 1, 10),
	})
}

// Whatever the run, and however small the terminal: a frame fits, and moves no cursor.
func TestFramesFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("aé\x1b\n世 ░ẍ")), 0, 40, -1)
		amount := rapid.Uint64Range(0, 1<<53)
		spent := func(name string) api.Spent {
			return api.Spent{Limit: amount.Draw(t, name), Settled: amount.Draw(t, name), Reserved: amount.Draw(t, name), Exceeded: rapid.Bool().Draw(t, name)}
		}
		r := api.Run{
			RunID: "018f4e5c-0000-7000-8000-000000000001", Name: text.Draw(t, "name"), Goal: text.Draw(t, "goal"), Pausing: rapid.SampledFrom([]string{"", "budget"}).Draw(t, "pausing"),
			State:     rapid.SampledFrom([]string{"PLANNING", "PLANNED", "APPLYING", "PAUSED", "COMPLETED", "FAILED", "KILLED"}).Draw(t, "state"),
			StartedAt: rapid.Int64Range(0, 1<<40).Draw(t, "started"), Last: &api.RunStep{Trigger: "fail", Cause: "kernel", Reason: text.Draw(t, "reason"), AtMillis: 5},
		}
		for range rapid.IntRange(0, 30).Draw(t, "tasks") {
			r.Tasks = append(r.Tasks, api.TaskProgress{
				Name: text.Draw(t, "task"), State: rapid.SampledFrom([]string{"WAITING", "RUNNING", "DONE", "FAILED"}).Draw(t, "task state"),
				StartedAt: rapid.Int64Range(0, 1<<41).Draw(t, "begun"), Code: rapid.SampledFrom([]string{"", "TOOL_FAILED"}).Draw(t, "code"), Message: text.Draw(t, "message"),
			})
		}
		r.Total, r.Done = uint32(len(r.Tasks)), uint32(rapid.IntRange(0, len(r.Tasks)).Draw(t, "done"))
		if rapid.Bool().Draw(t, "budget") {
			r.Budget = &api.Account{
				Tokens: spent("tokens"), USDMicros: spent("dollars"), WarnPercent: rapid.Uint32Range(0, 100).Draw(t, "warn"),
				Wall: api.SpentTime{Limit: rapid.Int64Range(0, 1<<41).Draw(t, "limit"), Used: rapid.Int64Range(0, 1<<41).Draw(t, "used")},
			}
		}
		f := RunFrame{Columns: rapid.IntRange(1, 200).Draw(t, "columns"), Rows: rapid.IntRange(1, 60).Draw(t, "rows"), ASCII: rapid.Bool().Draw(t, "ascii"), Now: 1 << 40}
		lines := f.Lines(r)
		require.LessOrEqual(t, len(lines), f.Rows)
		require.NotEmpty(t, lines)
		for _, line := range lines {
			require.LessOrEqual(t, lipgloss.Width(line), f.Columns, "%q", line)
			require.NotContains(t, line, "\n")
			require.NotContains(t, line, "\x1b")
		}
	})
}
