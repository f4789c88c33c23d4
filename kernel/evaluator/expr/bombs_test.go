package expr

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

const refused failure.Code = failure.InvalidProgram

// bombs are expressions that would exhaust a replica if anything were charged
// after it is done (EX-11). Each ends in the code beside it.
var bombs = []struct {
	name, src string
	code      failure.Code
}{
	{"list repetition", "[0]*(1<<27)", failure.ValueTooLarge},
	{"list repetition, huge count", "[0]*(1<<4000)", failure.ValueTooLarge},
	{"text repetition", "'a'*(1<<31)", failure.ValueTooLarge},
	{"text repetition, overflowing", "('a'*60000)*(1<<62)", failure.ValueTooLarge},
	{"repetition from the left", "(1<<30)*'ab'", failure.ValueTooLarge},
	{"sum of long texts", "'a'*65536+'b'*65536+'c'*65536", failure.ValueTooLarge},
	{"chain of long texts", strings.Repeat("'a'*65000+", 150) + "'a'", failure.ValueTooLarge},
	{"doubling text by nested loops", doubling("'ab'", "x+x", 40), failure.ValueTooLarge},
	{"doubling lists by nested loops", doubling("[0]", "x+x", 40), failure.ValueTooLarge},
	{"doubling by sharing", doubling("[0]", "[x,x]", 40), failure.ValueTooLarge},
	{"doubling maps by sharing", doubling("{'a':0}", "{'a':x,'b':x}", 40), failure.ValueTooLarge},
	{"doubling by format", doubling("'ab'", "'%s%s' % (x,x)", 40), failure.ValueTooLarge},
	{"doubling by str.format", doubling("'ab'", "'{0}{0}'.format(x)", 40), failure.ValueTooLarge},
	{"doubling by replace", doubling("'ab'", "x.replace('a','aa')+x", 40), failure.ValueTooLarge},
	{"doubling by join", doubling("'ab'", "x.join(['a','b','c'])", 40), failure.ValueTooLarge},
	{"doubling by json", doubling("'\"'", "json_encode(x)", 48), failure.ValueTooLarge},
	{"doubling by zip", doubling("[0]", "zip(x,x)+zip(x,x)", 40), failure.ValueTooLarge},
	{"depth by sharing", doubling("[]", "[x]", 45) + "+" + "json_decode('['*30+']'*30)", ""},
	{"depth beyond the model", "[" + doubling("json_decode('['*40+']'*40)", "[x]", 40) + "]", failure.ValueTooLarge},
	{"join of long texts", "('a'*60000).join(['b']*60000)", failure.ValueTooLarge},
	{"format eight times", "'%s%s%s%s%s%s%s%s' % (" + strings.Repeat("'a'*60000,", 8) + ")", failure.ValueTooLarge},
	{"format of a list", "'%s' % ([['a'*200]*200])", ""},
	{"precision", "'%.999999999f' % 1.5", failure.EvalFailure},
	{"width", "'%1000000000d' % 1", failure.EvalFailure},
	{"4 KiB of 1+1", strings.Repeat("1+", 2047) + "1", refused},
	{"4,000 parentheses", strings.Repeat("(", 2000) + "1" + strings.Repeat(")", 2000), refused},
	{"2,000 open parentheses", strings.Repeat("(", 4000), refused},
	{"deep lists", strings.Repeat("[", 2000) + strings.Repeat("]", 2000), refused},
	{"deep maps", strings.Repeat("{'a':", 500) + "1" + strings.Repeat("}", 500), refused},
	{"not, 1,000 times", strings.Repeat("not ", 1000) + "1", refused},
	{"minus, 4,000 times", strings.Repeat("-", 4000) + "1", refused},
	{"tilde and blanks", strings.Repeat("~ ", 2000) + "1", refused},
	{"conditions in a chain", strings.Repeat("1 if 1 else ", 330) + "1", refused},
	{"lambda in a chain", strings.Repeat("lambda:", 580) + "1", refused},
	{"members in a chain", "x" + strings.Repeat(".a", 2000), refused},
	{"indexes in a chain", "x" + strings.Repeat("[0]", 1300), refused},
	{"calls in a chain", "x" + strings.Repeat(".keys()", 580), refused},
	{"comparisons in parentheses", strings.Repeat("(1<", 1000) + "1" + strings.Repeat(")", 1000), refused},
	{"a source that is too long", strings.Repeat("1,", 1<<20), refused},
	{"a text that never ends", "'" + strings.Repeat("a", 4000), refused},
	{"a huge literal", strings.Repeat("9", 4096), refused},
	{"a huge hexadecimal literal", "0x" + strings.Repeat("f", 4000), refused},
	{"shift", "1<<(1<<30)", failure.ValueTooLarge},
	{"shift beyond an int", "1<<(1<<4000)", failure.ValueTooLarge},
	{"shift upon shift", "1<<4000<<4000", failure.ValueTooLarge},
	{"squaring", doubling("12345678901234567890", "x*x", 40), failure.ValueTooLarge},
	{"multiplying big integers", "[[x*x*x*x for y in range(9000)] for x in [1<<1000]]", failure.WorkExceeded},
	{"dividing big integers", "[(1<<4000)//x for x in range(1,9000)]", failure.WorkExceeded},
	{"printing big integers", "[str(1<<4090) for x in range(9000)]", failure.ValueTooLarge},
	{"reading big integers", "[int('9'*1230) for x in range(9000)]", failure.WorkExceeded},
	{"an integer of too many digits", "int('9'*60000)", failure.ValueTooLarge},
	{"range", "range(1<<40)", failure.ValueTooLarge},
	{"range, 2 billion", "range(2147483647)", failure.ValueTooLarge},
	{"sorted over a range", "sorted(range(1000000))", failure.ValueTooLarge},
	{"sorting for long", "[sorted(range(2000)) for x in range(1000)]", failure.WorkExceeded},
	{"sorting long texts", "sorted(['a'*9000+str(i) for i in range(7)]*1)*1 and [sorted(['a'*9000+str(i) for i in range(6)]) for j in range(999)]", failure.ValueTooLarge},
	{"nested ranges", "[[[z for z in range(100)] for y in range(100)] for x in range(100)]", failure.WorkExceeded},
	{"flat loops", "[0 for x in range(1000) for y in range(1000) for z in range(1000)]", failure.WorkExceeded},
	{"loops without a result", "[0 for x in range(9999) for y in range(9999) if False]", failure.WorkExceeded},
	{"a growing map", "{str(x)*100:x for x in range(9000)}", failure.ValueTooLarge},
	{"a map of many keys", "{str(x):x for x in range(60000)}", failure.ValueTooLarge},
	{"map unions", doubling("{'a':'x'*30000}", "x|{'b':x}", 40), failure.ValueTooLarge},
	{"replace of nothing", "('a'*60000).replace('','bbbb')", failure.ValueTooLarge},
	{"replace by something long", "('a'*60000).replace('a','b'*60000)", failure.ValueTooLarge},
	{"split of everything", "('a,'*32000).split(',')", failure.ValueTooLarge},
	{"split at nothing", "'abc'.split('')", failure.EvalFailure},
	{"split at blanks", "(' a'*32000).split()", failure.ValueTooLarge},
	{"lines", "('\\n'*60000).splitlines()", failure.ValueTooLarge},
	{"strip by a long set", "('ä'*30000).strip('ö'*30000)", failure.WorkExceeded},
	{"searching for long", "[('a'*60000).find('a'*30000+'b') for x in range(9000)]", failure.WorkExceeded},
	{"searching one text for long", "[x.find('b') for x in ['a'*60000] for y in range(9000)]", failure.WorkExceeded},
	{"comparing for long", "[x==y for x in ['a'*60000] for y in ['a'*60000] for z in range(9000)]", failure.WorkExceeded},
	{"comparing lists for long", "[x==y for x in [[0]*20000] for y in [[0]*20000] for z in range(9000)]", failure.WorkExceeded},
	{"ordering nested lists for long", "[x<y for x in [" + nested + "] for y in [" + nested + "] for z in range(9000)]", failure.WorkExceeded},
	{"counting items for long", "[x.count(1) for x in [[0]*20000] for z in range(9000)]", failure.WorkExceeded},
	{"membership for long", "[1 in x for x in [[0]*20000] for z in range(9000)]", failure.WorkExceeded},
	{"letters for long", "[x[i] for x in ['ä'*30000] for i in range(9000)]", failure.WorkExceeded},
	{"slices for long", "[x[i:] for x in ['ä'*30000] for i in range(9000)]", failure.ValueTooLarge},
	{"reversing text", "[x[::-1] for x in ['ä'*30000] for i in range(9000)]", failure.ValueTooLarge},
	{"many fields of nothing", "[('{}'*400).format(" + strings.Repeat("'',", 400) + ") for i in range(900)]", failure.WorkExceeded},
	{"joining nothing", "''.join(['']*60000)", failure.WorkExceeded},
	{"zip of a row of lists", "[zip(x" + strings.Repeat(",x", 1000) + ") for x in [[0]*2000]]", failure.WorkExceeded},
	{"enumerating", "enumerate([0]*60000)", failure.WorkExceeded},
	{"JSON of depth 65", "json_decode('['*65+']'*65)", failure.EvalFailure},
	{"JSON of depth 30,000", "json_decode('['*30000)", failure.EvalFailure},
	{"JSON of many members", "json_decode('{'+'\"a\":1,'*9000+'}')", failure.EvalFailure},
	{"JSON of many empty maps", "json_decode('['+'{},'*20000+'0]')", failure.WorkExceeded},
	{"JSON for long", "[json_decode(x) for x in ['[' + '0,'*9000 + '0]'] for i in range(900)]", failure.WorkExceeded},
	{"JSON of escapes", "json_encode('\\u0001'*20000)", failure.ValueTooLarge},
	{"text of a float", "str(1.7976931348623157e308)*3000", failure.ValueTooLarge},
	{"decimals of a large float", "['%.20f' % 1.7e308 for i in range(9000)]", failure.ValueTooLarge},
	{"an infinite product", doubling("1e300", "x*x", 40), failure.EvalFailure},
	{"upper case", "[x.upper() for x in ['a'*60000] for i in range(9000)]", failure.ValueTooLarge},
	{"unpacking", "[a for a,b in [range(20000)]]", failure.EvalFailure},
}

// nested is a list of 40 levels that is larger on the way out.
const nested = "json_decode('[1,'*40+'0'+']'*40)"

// doubling chains loops so that x becomes step of itself, n times over.
func doubling(start, step string, n int) string {
	return "[x for x in [" + start + "]" + strings.Repeat(" for x in ["+step+"]", n) + "][0]"
}

// TestBombs runs each under the default budget, in bounded time and memory.
func TestBombs(t *testing.T) {
	assert.GreaterOrEqual(t, len(bombs), 40)
	for _, bomb := range bombs {
		t.Run(bomb.name, func(t *testing.T) {
			var before, after runtime.MemStats
			m := NewMeter(DefaultSteps, DefaultBytes)
			runtime.ReadMemStats(&before)
			start := time.Now()
			code := explode(bomb.src, m)
			elapsed := time.Since(start)
			runtime.ReadMemStats(&after)
			t.Logf("%s: %v, %d KiB, %d steps, %d bytes", bomb.name, elapsed, (after.TotalAlloc-before.TotalAlloc)>>10, m.Steps(), m.Bytes())
			assert.Equal(t, bomb.code, code)
			assert.Less(t, elapsed, 100*time.Millisecond*slowdown)
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8*DefaultBytes)) // charges are near the truth
			assert.LessOrEqual(t, m.Steps(), uint32(DefaultSteps))
			assert.LessOrEqual(t, m.Bytes(), uint32(DefaultBytes))
		})
	}
}

func explode(src string, m *Meter) failure.Code {
	e, refused := Compile(src)
	if refused != nil {
		return refused.Code
	}
	if _, f := e.Eval(nil, m); f != nil {
		return f.Code
	}
	return ""
}
