package expr

import (
	"strings"
	"testing"
)

func BenchmarkEval(b *testing.B) {
	env := names{"input": fromJSON(b, `{"count":3,"name":"Ann","xs":[3,1,2],"at":1760000000000,"o":{"a":1.5,"bb":[true,null]}}`)}
	for _, src := range []string{
		"input", "input.o.a", "input.count + 1", "input.at + 1000", "input.count / 2", "input.name + '!'", "len(input.xs)", "input.name.upper()",
		"'%s has %d' % (input.name, input.count)", "[x * 2 for x in input.xs if x > 1]", "sorted(input.xs)", "input | {'z': 1}",
	} {
		e := compiled(b, src)
		b.Run(src, func(b *testing.B) {
			m := NewMeter(DefaultSteps, DefaultBytes)
			b.ReportAllocs()
			for b.Loop() {
				m.Reset()
				if _, f := e.Eval(env, m); f != nil {
					b.Fatal(f.Message)
				}
			}
		})
	}
}

func BenchmarkTemplate(b *testing.B) {
	env := names{"input": fromJSON(b, `{"count":3,"name":"Ann"}`)}
	t, refused := CompileTemplate(rawJSON(b, `{"to":"${input.name}","text":"Hello ${input.name}, you have ${input.count} items","urgent":false}`), "")
	if refused != nil {
		b.Fatal(refused.Rule)
	}
	m := NewMeter(DefaultSteps, DefaultBytes)
	b.ReportAllocs()
	for b.Loop() {
		m.Reset()
		if _, f := t.Eval(env, m); f != nil {
			b.Fatal(f.Message)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	for name, src := range map[string]string{"small": "input.count + 1", "comprehension": "[x * 2 for x in input.xs if x > 1]", "hostile": strings.Repeat("(", 4000)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Compile(src)
			}
		})
	}
}

func BenchmarkRaw(b *testing.B) {
	raw := rawJSON(b, `{"count":3,"name":"Ann","xs":[3,1,2],"at":1760000000000,"o":{"a":1.5,"bb":[true,null]}}`)
	v := FromRaw(raw)
	b.Run("FromRaw", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			FromRaw(raw)
		}
	})
	b.Run("AppendRaw", func(b *testing.B) {
		b.ReportAllocs()
		var dst []byte
		for b.Loop() {
			dst, _ = AppendRaw(dst[:0], v, MaxValueBytes)
		}
	})
}
