package script

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// main makes a script of the lines of a body.
func mainOfLines(lines ...string) string {
	return "def main():\n    " + strings.Join(lines, "\n    ") + "\n"
}

const forever = "for i in range(1000000000):"

// bombs are scripts that grow, or do not end; code is empty for those that are
// dear and allowed.
var bombs = map[string]struct {
	src  string
	code failure.Code
}{
	"an endless loop":              {mainOfLines(forever, "    pass"), failure.WorkExceeded},
	"loops in loops":               {mainOfLines(forever, "    for j in range(1000000000):", "        x = i * j"), failure.WorkExceeded},
	"a loop at the top":            {forever + "\n    pass\ndef main():\n    pass\n", failure.WorkExceeded},
	"10^9 items by repetition":     {mainOfLines("x = [0] * 1000000000"), failure.ValueTooLarge},
	"10^9 items by a range":        {mainOfLines("x = list(range(1000000000))"), failure.ValueTooLarge},
	"10^9 items by comprehension":  {mainOfLines("x = [i for i in range(1000000000)]"), failure.WorkExceeded},
	"10^9 entries":                 {mainOfLines("x = {i: i for i in range(1000000000)}"), failure.WorkExceeded},
	"10^9 appends":                 {mainOfLines("x = []", forever, "    x.append(i)"), failure.ValueTooLarge},
	"10^9 letters":                 {mainOfLines("x = 'x' * 1000000000"), failure.ValueTooLarge},
	"2^27 items":                   {mainOfLines("x = [0] * (1 << 27)"), failure.ValueTooLarge},
	"a tuple of 10^9":              {mainOfLines("x = (0,) * 1000000000"), failure.ValueTooLarge},
	"text that doubles":            {mainOfLines("x = 'x'", forever, "    x += x"), failure.ValueTooLarge},
	"lists that double":            {mainOfLines("x = [0]", forever, "    x += x"), failure.ValueTooLarge},
	"lists that double in new":     {mainOfLines("x = [0]", forever, "    x = x + x"), failure.ValueTooLarge},
	"a join":                       {mainOfLines("x = ('x' * 1000).join(['y' * 1000] * 60000)"), failure.ValueTooLarge},
	"formats that double":          {mainOfLines("x = 'x' * 10", forever, "    x = '%s%s' % (x, x)"), failure.ValueTooLarge},
	"fields that double":           {mainOfLines("x = 'x' * 10", forever, "    x = '{0}{0}'.format(x)"), failure.ValueTooLarge},
	"replacements":                 {mainOfLines("x = 'x' * 1000", forever, "    x = x.replace('x', 'xx')"), failure.ValueTooLarge},
	"integers that square":         {mainOfLines("x = 3", forever, "    x = x * x"), failure.ValueTooLarge},
	"shifts":                       {mainOfLines("x = 1 << 1000000000"), failure.ValueTooLarge},
	"sums":                         {mainOfLines("x = 1 << 4000", forever, "    y = sum([x] * 1000)"), failure.ValueTooLarge},
	"lists that nest, written":     {mainOfLines("x = []", "for i in range(100000):", "    x = [x]", "return x"), failure.ValueTooLarge},
	"lists that nest, compared":    {mainOfLines("x, y = [], []", "for i in range(30000):", "    x, y = [x], [y]", "return x == y"), failure.ValueTooLarge},
	"lists that nest, ordered":     {mainOfLines("x, y = [], []", "for i in range(30000):", "    x, y = [x], [y]", "return x < y"), failure.ValueTooLarge},
	"a list in itself, compared":   {mainOfLines("x, y = [], []", "x.append(x)", "y.append(y)", "return x == y"), failure.ValueTooLarge},
	"a list in itself, as text":    {mainOfLines("x = []", "x.append(x)", "return str(x)"), failure.ValueTooLarge},
	"a dict in itself":             {mainOfLines("x = {}", "x['x'] = x", "return str(x)"), failure.ValueTooLarge},
	"shared and compared":          {mainOfLines("x, y = [0], [0]", "for i in range(60):", "    x, y = [x, x], [y, y]", "return x == y"), failure.WorkExceeded},
	"shared and written":           {mainOfLines("x = [0]", "for i in range(60):", "    x = [x, x]", "return json_encode(x)"), failure.WorkExceeded},
	"tuples as keys, shared":       {mainOfLines("x = (0, 0)", "for i in range(60):", "    x = (x, x)", "return {x: 1}"), failure.EvalFailure},
	"keys that collide":            {mainOfLines("x = {}", "for i in range(60000):", "    x[i << 32] = i", "return len(x)"), ""},
	"searching a text":             {mainOfLines("x = 'ab' * 400000", forever, "    y = 'ba ' in x"), failure.WorkExceeded},
	"searching a list":             {mainOfLines("x = list(range(60000))", forever, "    y = -1 in x"), failure.WorkExceeded},
	"letters of a text":            {mainOfLines("x = 'ä' * 400000", forever, "    y = x[i]"), failure.WorkExceeded},
	"taking from the front":        {mainOfLines("x = list(range(60000))", forever, "    x.pop(0)", "    x.insert(0, 1)"), failure.WorkExceeded},
	"copies of a dict":             {mainOfLines("x = {i: i for i in range(30000)}", forever, "    y = dict(x)"), failure.ValueTooLarge},
	"copies of a list":             {mainOfLines("x = list(range(60000))", forever, "    y = list(x)"), failure.ValueTooLarge},
	"slices of a list":             {mainOfLines("x = list(range(60000))", forever, "    y = x[1:]"), failure.ValueTooLarge},
	"slices of a text":             {mainOfLines("x = 'x' * 1000000", forever, "    y = x[1:]"), failure.WorkExceeded},
	"spread arguments":             {mainOfLines("def f(*xs):", "    return xs", "x = list(range(60000))", forever, "    f(*x)"), failure.EvalFailure},
	"sorting again":                {mainOfLines("x = [(i * 7919) % 60000 for i in range(30000)]", forever, "    x = sorted(x)"), failure.WorkExceeded},
	"sorting by a function":        {mainOfLines("x = list(range(60000))", forever, "    x = sorted(x, key=lambda y: -y)"), failure.WorkExceeded},
	"a function of a function":     {mainOfLines("def f(g):", "    return g(g)", "return f(f)"), failure.EvalFailure},
	"zips":                         {mainOfLines("x = list(range(60000))", forever, "    y = zip(x, x, x, x, x, x, x, x)"), failure.ValueTooLarge},
	"ever more dicts":              {mainOfLines("x = []", forever, "    x.append({'a': {}, 'b': {}})"), failure.WorkExceeded},
	"json that is deep":            {mainOfLines("return json_decode('[' * 100000)"), failure.EvalFailure},
	"json that is long":            {mainOfLines("x = '[' + '0,' * 500000 + '0]'", forever, "    json_decode(x)"), failure.ValueTooLarge},
	"texts with escapes, as json":  {mainOfLines("x = '\\x01' * 900000", forever, "    json_encode(x)"), failure.ValueTooLarge},
	"emits":                        {mainOfLines(forever, "    emit(i)"), failure.ValueTooLarge},
	"large emits":                  {mainOfLines(forever, "    emit('x' * 60000)"), failure.ValueTooLarge},
	"calls without end":            {mainOfLines(forever, "    call('t')"), failure.CallOverflow},
	"calls that double":            {mainOfLines("x = 'x'", forever, "    x = call('t', x).value * 2"), failure.ValueTooLarge},
	"many calls at once":           {mainOfLines("gather([('t',)] * 65)"), failure.EvalFailure},
	"large calls at once":          {mainOfLines("gather([('t', 'x' * 60000)] * 2)"), failure.ValueTooLarge},
	"children without end":         {mainOfLines("delegate([{}] * 1001)"), failure.EvalFailure},
	"a range of many":              {mainOfLines("return [(-9007199254740992 in range(-9007199254740992, 9007199254740992, 1)), len(range(1, 9007199254740992))]"), ""},
	"powers of a float":            {mainOfLines("x = 1.5", forever, "    x = x * x"), failure.EvalFailure},
	"a large function":             {largeFunction(), failure.WorkExceeded},
	"a thousand functions in line": {chain(999), ""},
	"arguments":                    {mainOfLines("def f(*a):", "    return len(a)", "x = list(range(250))", forever, "    f(*x)"), failure.ValueTooLarge},
	"union of dicts":               {mainOfLines("x = {i: i for i in range(30000)}", forever, "    x = x | x"), failure.ValueTooLarge},
	"words":                        {mainOfLines("x = 'a ' * 60000", forever, "    x.split()"), failure.ValueTooLarge},
	"upper case":                   {mainOfLines("x = 'a' * 1000000", forever, "    x.upper()"), failure.ValueTooLarge},
	"removing":                     {mainOfLines("x = {}", forever, "    x[i] = 1", "    x.pop(i)"), failure.WorkExceeded},
	"lines":                        {mainOfLines("x = 'a' * 1000000", "print(x, x, x)"), failure.ValueTooLarge},
}

// largeFunction is called over and over, does nothing, and would need much room.
func largeFunction() string {
	return "def f(x):\n    if x:\n        y = [" + strings.Repeat("0,", 60000) + "]\n    return 0\n\ndef main():\n    " + forever + "\n        f(False)\n"
}

// chain is n functions that call each other in line.
func chain(n int) string {
	var b strings.Builder
	b.WriteString("def f0():\n    return 0\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "def f%d():\n    return f%d() + 1\n", i, i-1)
	}
	fmt.Fprintf(&b, "def main():\n    return f%d()\n", n-1)
	return b.String()
}

// EX-11: what grows is stopped by a coded failure; no run takes much memory, or
// long, on the way there.
func TestBombs(t *testing.T) {
	for what, bomb := range bombs {
		t.Run(what, func(t *testing.T) {
			p := compileSource(t, bomb.src)
			running := p.Start(testContext)
			var last evaluator.Result
			for range 1100 {
				before, began := allocated(), time.Now()
				last = running.Step()
				if took := time.Since(began); took > time.Second/2 {
					t.Logf("one run took %s", took)
				}
				require.Less(t, allocated()-before, uint64(200<<20))
				require.LessOrEqual(t, last.Work, uint32(MaxSteps/stepsPerWork*2))
				if last.Kind != evaluator.NeedsTool {
					break
				}
				var d evaluator.Delivery
				for _, call := range last.Calls {
					d.Answers = append(d.Answers, echo(call))
				}
				next, fail := p.Resume(testContext, running.AppendCheckpoint(nil), &d)
				require.Nil(t, fail)
				running = next
			}
			if bomb.code == "" {
				assert.Equal(t, evaluator.PureValue, last.Kind, "%+v", last.Failure)
			} else if assert.Equal(t, evaluator.Failed, last.Kind) {
				assert.Equal(t, bomb.code, last.Failure.Code, last.Failure.Message)
			}
		})
	}
}

func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

// EX-11: a source that would overflow the stack of whatever reads it is refused
// before.
func TestSourcesThatAreDeep(t *testing.T) {
	const many = 40000
	for what, src := range map[string]string{
		"a sum":               mainOfLines("return 1" + strings.Repeat("+1", many)),
		"brackets":            mainOfLines("return " + strings.Repeat("(", many) + "1" + strings.Repeat(")", many)),
		"lists":               mainOfLines("return " + strings.Repeat("[", many) + strings.Repeat("]", many)),
		"signs":               mainOfLines("return " + strings.Repeat("-", many) + "1"),
		"nots":                mainOfLines("return " + strings.Repeat("not ", many) + "1"),
		"lambdas":             mainOfLines("return " + strings.Repeat("lambda: ", many/2) + "1"),
		"choices":             mainOfLines("return " + strings.Repeat("1 if 0 else ", many/3) + "1"),
		"members":             mainOfLines("return x" + strings.Repeat(".x", many)),
		"calls":               mainOfLines("return x" + strings.Repeat("()", many)),
		"indexes":             mainOfLines("return x" + strings.Repeat("[0]", many)),
		"ands":                mainOfLines("return 1" + strings.Repeat(" and 1", many)),
		"comparisons":         mainOfLines("return 1" + strings.Repeat(" == 1", many)),
		"branches":            mainOfLines("if 0:\n        pass\n" + strings.Repeat("    elif 0:\n        pass\n", many/8)),
		"blocks":              "def main():\n" + blocks(600),
		"functions":           "def main():\n    pass\n" + strings.Repeat("def f():\n    pass\n", 1001),
		"targets":             mainOfLines(strings.Repeat("[", 90) + "x" + strings.Repeat("]", 90) + " = 1" + strings.Repeat("+1", 200)),
		"comprehensions":      mainOfLines("return " + strings.Repeat("[x for x in ", 99) + "[]" + strings.Repeat("]", 99) + strings.Repeat("+1", 150)),
		"4 MB":                mainOfLines("return 1" + strings.Repeat("+1", 2<<20)),
		"an integer":          mainOfLines("return " + strings.Repeat("9", 200000)),
		"a lambda that is so": mainOfLines("f = lambda: [" + strings.Repeat("0,", 300) + "]"),
		"arguments":           mainOfLines("f(" + strings.Repeat("0,", 300) + ")"),
		"texts without end":   mainOfLines(`x = """` + strings.Repeat("a", 1000)),
		"a file of brackets":  strings.Repeat("[", 200000),
	} {
		before := allocated()
		_, refusal := New().Compile(value.AppendString(nil, src))
		if assert.NotNil(t, refusal, what) {
			assert.Equal(t, failure.InvalidProgram, refusal.Code, what)
			assert.NotContains(t, refusal.Rule, "panicked", what)
		}
		assert.Less(t, allocated()-before, uint64(100<<20), what)
	}
}

func blocks(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i+1) + "if 1:\n")
	}
	b.WriteString(strings.Repeat(" ", n+1) + "pass\n")
	return b.String()
}
