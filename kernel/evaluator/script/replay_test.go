package script

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

const hundredCalls = `
def main(input):
    total = 0
    for i in range(100):
        page = call("http.request", {"method": "GET", "url": "http://example.com/%d" % i})
        if not page.ok:
            fail("no page", i)
        total += len(page.value.url)
    return total
`

// All runs of a script of 100 calls together take at most 60 times the steps of
// one straight pass, and the last of them takes exactly as many.
func TestStepsOfAHundredCalls(t *testing.T) {
	p := compileSource(t, hundredCalls)
	pass := world{ctx: testContext}.run(t, p, straight)
	again := world{ctx: testContext}.run(t, p, resumed)
	require.Equal(t, pass.apart(), again.apart())
	assert.Equal(t, 1, pass.runs)
	assert.Equal(t, 101, again.runs)
	assert.Equal(t, pass.steps, again.pass)
	assert.LessOrEqual(t, again.steps, 60*pass.steps)
	assert.Greater(t, again.steps, 40*pass.steps, "they are counted")
	t.Logf("%d steps straight, %d in all: %.1f times", pass.steps, again.steps, float64(again.steps)/float64(pass.steps))
}

func BenchmarkHundredCalls(b *testing.B) {
	p := compileSource(b, hundredCalls)
	b.ReportAllocs()
	for b.Loop() {
		world{ctx: testContext}.run(b, p, resumed)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/101, "µs/run")
}

// A tick that waits once: start, call, checkpoint, resume, answer, end.
func BenchmarkToolStep(b *testing.B) {
	p := compileSource(b, "def main(input):\n    r = call('echo', {'x': 1})\n    return r.value.x\n")
	b.ReportAllocs()
	for b.Loop() {
		tick := p.Start(testContext)
		r := tick.Step()
		tick, _ = p.Resume(testContext, tick.AppendCheckpoint(nil), &evaluator.Delivery{
			Answers: []evaluator.Answer{{OK: true, Value: r.Calls[0].Args}},
		})
		tick.Step()
	}
}

// author writes scripts that compute, keep state, and ask.
type author struct {
	t     *rapid.T
	lines []string
}

func (a *author) line(depth int, format string, args ...any) {
	a.lines = append(a.lines, strings.Repeat("    ", depth)+fmt.Sprintf(format, args...))
}

func (a *author) name() string { return rapid.SampledFrom([]string{"x", "y", "z"}).Draw(a.t, "name") }

func (a *author) statement(depth int) {
	kinds := []string{"append", "add", "key", "call", "gather", "emit", "print", "swap", "recall", "helper", "pop"}
	if depth < 3 {
		kinds = append(kinds, "for", "if")
	}
	x, y := a.name(), a.name()
	switch kind := rapid.SampledFrom(kinds).Draw(a.t, "kind"); kind {
	case "append":
		a.line(depth, "%s.append(len(%s))", x, y)
	case "add":
		a.line(depth, "%s += [%d]", x, rapid.IntRange(0, 9).Draw(a.t, "n"))
	case "key":
		a.line(depth, "d[str(len(%s))] = d.get(%q, 0) + 1", x, "1")
	case "call":
		a.line(depth, "r = call(%q, {\"n\": len(%s), \"d\": d})", rapid.SampledFrom([]string{"a", "b"}).Draw(a.t, "tool"), x)
		a.line(depth, "%s.append(r.value.n if r.ok else r.code)", y)
	case "gather":
		a.line(depth, "%s += [r.ok for r in gather([(\"a\", len(%s)), (\"b\", len(%s))])]", x, y, x)
	case "emit":
		a.line(depth, "emit([%s, d])", x)
	case "print":
		a.line(depth, "print(%s, %q)", x, "said")
	case "swap":
		a.line(depth, "%s, %s = %s, %s", x, y, y, x)
	case "recall":
		a.line(depth, "%s.append(recall(\"k\", default=len(%s)).value)", x, y)
	case "helper":
		a.line(depth, "%s = helper(%s, d)", x, y)
	case "pop":
		a.line(depth, "%s = %s[:3] + [sorted([type(v) for v in %s])]", x, x, y)
	case "for":
		a.line(depth, "for i in range(%d):", rapid.IntRange(0, 3).Draw(a.t, "rounds"))
		a.block(depth + 1)
	case "if":
		a.line(depth, "if len(%s) %% 2 == 0:", x)
		a.block(depth + 1)
	}
}

func (a *author) block(depth int) {
	for range rapid.IntRange(1, 3).Draw(a.t, "statements") {
		a.statement(depth)
	}
}

// write writes a whole script.
func write(t *rapid.T) string {
	a := &author{t: t, lines: []string{
		"def helper(xs, d):", "    d[\"calls\"] = d.get(\"calls\", 0) + 1", "    r = call(\"helper\", [d[\"calls\"]])",
		"    return xs + [r.ok]", "", "def main(input):", "    x, y, z, d, i = [], [1], [2, 2], {}, 0",
	}}
	for range rapid.IntRange(1, 8).Draw(t, "length") {
		a.statement(1)
	}
	a.line(1, "return [x, y, z, d, i]")
	return strings.Join(a.lines, "\n") + "\n"
}

// moody answers by what it is asked, and not always well.
func moody(c evaluator.Call) evaluator.Answer {
	switch n := len(c.Args) % 4; {
	case c.Tool == "memory.read":
		return evaluator.Answer{OK: true, Value: rawOf(map[string]any{"found": n > 1, "value": n, "version": 3})}
	case n == 0:
		return evaluator.Answer{Code: failure.ToolTimeout, Message: "too slow"}
	}
	return evaluator.Answer{OK: true, Value: rawOf(map[string]any{"n": len(c.Args), "list": []any{1, "a"}})}
}

// EX-3, EX-8, FA-1: what a script does, and the steps of a straight pass, do
// not depend on where it was suspended, nor on answers that were lost.
func TestScriptsAreTheSameWhereverTheyAreSuspended(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		src := write(rt)
		p := compileSource(t, src)
		w := world{ctx: testContext, answer: moody}
		pass := w.run(t, p, straight)
		for _, how := range []mode{resumed, forgetful} {
			o := w.run(t, p, how)
			require.Equal(rt, pass.apart(), o.apart(), src)
			require.Equal(rt, pass.pass, o.pass, src)
		}
		if pass.last.Kind == evaluator.Failed {
			require.NotContains(rt, []failure.Code{failure.EvalPanic, failure.ReplayDivergence}, pass.last.Failure.Code, src)
		}
	})
}

// Over the results that it has a script must ask for the same again.
func TestDivergence(t *testing.T) {
	p := compileSource(t, `
def main(input):
    a = call("a", {"of": input})
    b = call("b", a.value)
    return [a.value, b.value]
`)
	ctx := testContext
	ctx.Input = rawOf("one")
	resume := func(ctx evaluator.Context, checkpoint []byte, answers ...string) evaluator.Tick {
		var d evaluator.Delivery
		for _, answer := range answers {
			d.Answers = append(d.Answers, evaluator.Answer{OK: true, Value: rawOf(answer)})
		}
		tick, fail := p.Resume(ctx, checkpoint, &d)
		require.Nil(t, fail)
		return tick
	}
	first := p.Start(ctx)
	require.Equal(t, evaluator.NeedsTool, first.Step().Kind)
	second := resume(ctx, first.AppendCheckpoint(nil), "answer a")
	assert.Equal(t, evaluator.Position{Node: 1, Kind: "SCRIPT"}, second.At())
	require.Equal(t, evaluator.NeedsTool, second.Step().Kind)
	checkpoint := second.AppendCheckpoint(nil)
	require.Equal(t, evaluator.PureValue, resume(ctx, checkpoint, "answer b").Step().Kind)

	other := ctx
	other.Input = rawOf("two")
	r := resume(other, checkpoint, "answer b").Step()
	require.Equal(t, evaluator.Failed, r.Kind)
	assert.Equal(t, failure.ReplayDivergence, r.Failure.Code)
	assert.Equal(t, uint32(3), r.Failure.Line)

	asked, fail := p.Resume(other, first.AppendCheckpoint(nil), nil) // asks for something else than it waits for
	require.Nil(t, fail)
	assert.Equal(t, failure.ReplayDivergence, asked.Step().Failure.Code)

	shorter := compileSource(t, "def main(input):\n    return 1\n")
	tick, fail := shorter.Resume(ctx, checkpoint, &evaluator.Delivery{Answers: []evaluator.Answer{{OK: true}}})
	require.Nil(t, fail)
	assert.Equal(t, failure.ReplayDivergence, tick.Step().Failure.Code, "results are left over")
	tick, fail = shorter.Resume(ctx, first.AppendCheckpoint(nil), nil)
	require.Nil(t, fail)
	assert.Equal(t, failure.ReplayDivergence, tick.Step().Failure.Code, "what it waits for is not asked for")
}

// Checkpoints that no script has written, and deliveries that do not fit.
func TestCheckpointsAreStrict(t *testing.T) {
	p := compileSource(t, "def main(input):\n    return gather([('a',), ('b',)])\n")
	tick := p.Start(testContext)
	require.Equal(t, evaluator.NeedsTool, tick.Step().Kind)
	good := tick.AppendCheckpoint(nil)
	both := &evaluator.Delivery{Answers: []evaluator.Answer{{OK: true, Value: value.Null}, {Code: failure.ToolFailed}}}
	_, fail := p.Resume(testContext, good, both)
	require.Nil(t, fail)
	for cut := range good {
		_, fail := p.Resume(testContext, good[:cut], both)
		require.NotNil(t, fail)
		require.Equal(t, failure.CheckpointInvalid, fail.Code)
	}
	_, fail = p.Resume(testContext, append(append([]byte(nil), good...), 0), both)
	assert.Equal(t, failure.CheckpointInvalid, fail.Code)
	for _, d := range []*evaluator.Delivery{
		{Answers: both.Answers[:1]},
		{},
		{Escalation: rawOf(map[string]any{"escalation": 1})},
	} {
		_, fail := p.Resume(testContext, good, d)
		require.NotNil(t, fail)
		assert.Equal(t, failure.CheckpointInvalid, fail.Code)
	}
	small := testContext
	small.MaxCheckpointBytes = uint32(len(good)) - 1
	_, fail = p.Resume(small, good, both)
	assert.Equal(t, failure.CheckpointInvalid, fail.Code)
}

// What is kept is bounded by max_checkpoint_bytes, and all runs by MaxTotalSteps:
// both tell to begin anew.
func TestWhatIsKeptIsBounded(t *testing.T) {
	p := compileSource(t, "def main(input):\n    for i in range(100):\n        call('t', 'x' * 50000)\n")
	ctx := testContext
	ctx.MaxCheckpointBytes = 120_000
	o := world{ctx: ctx}.run(t, p, resumed)
	require.Equal(t, evaluator.Failed, o.last.Kind)
	assert.Equal(t, failure.ValueTooLarge, o.last.Failure.Code)
	assert.Contains(t, o.last.Failure.Message, "again(state)")
	assert.Equal(t, 4, o.runs)

	p = compileSource(t, "def main(input):\n    for i in range(90000):\n        pass\n    for i in range(999):\n        call('t')\n")
	o = world{ctx: testContext}.run(t, p, resumed)
	require.Equal(t, evaluator.Failed, o.last.Kind)
	assert.Equal(t, failure.WorkExceeded, o.last.Failure.Code)
	assert.Contains(t, o.last.Failure.Message, "again(state)")
	assert.LessOrEqual(t, o.steps, uint64(MaxTotalSteps)+1000)
	assert.Greater(t, o.runs, 100)
}

// A tick that has ended stays so, and a failure names its place.
func TestAfterTheEnd(t *testing.T) {
	tick := compileSource(t, "def main(input):\n    return 1\n").Start(testContext)
	require.Equal(t, evaluator.PureValue, tick.Step().Kind)
	assert.Equal(t, failure.InvalidState, tick.Step().Failure.Code)
}

// EX-11: a panic is that tick's failure alone.
func TestPanics(t *testing.T) {
	broken := compileSource(t, "def main(input):\n    return 1\n").(*program)
	broken.code = nil
	r := broken.Start(testContext).Step()
	require.Equal(t, evaluator.Failed, r.Kind)
	assert.Equal(t, failure.EvalPanic, r.Failure.Code)
}
