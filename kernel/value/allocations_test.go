package value_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/omnikernel/omnikernel/kernel/value"
)

// Writing and reading on hot paths allocate nothing of their own.
func TestAllocations(t *testing.T) {
	dst := make([]byte, 0, 256)
	raw := fromJSON(t, `{"a":1,"b":[true,null,2.5,"text"],"longer":{"x":"y"}}`)
	json := make([]byte, 0, 256)
	keys := []string{"bb", "a", "ccc"}
	for name, f := range map[string]func(){
		"AppendNull":       func() { dst = value.AppendNull(dst[:0]) },
		"AppendBool":       func() { dst = value.AppendBool(dst[:0], true) },
		"AppendInt":        func() { dst = value.AppendInt(dst[:0], -123456789012) },
		"AppendFloat":      func() { dst = value.AppendFloat(dst[:0], 0.1) },
		"AppendString":     func() { dst = value.AppendString(dst[:0], "some text") },
		"AppendListHeader": func() { dst = value.AppendListHeader(dst[:0], 1000) },
		"AppendMapHeader":  func() { dst = value.AppendMapHeader(dst[:0], 1000) },
		"AppendJSON":       func() { json = raw.AppendJSON(json[:0]) },
		"SortKeys":         func() { keys[0], keys[1] = keys[1], keys[0]; value.SortKeys(keys) },
		"Get":              func() { raw.Get("longer") },
		"Check":            func() { value.Check(raw, 1000) },
		"Depth":            func() { raw.Depth() },
		"Skip":             func() { rd := value.NewReader(raw); rd.Skip() },
	} {
		assert.Zero(t, testing.AllocsPerRun(100, f), name)
	}
	src := []byte(`{"b":[1,2,3],"a":{"x":"y"}}`)
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { value.FromJSON(src, 1000) }), 5.0, "FromJSON")
}

func BenchmarkFromJSON(b *testing.B) {
	src := []byte(`{"kind":"LET","payload":{"name":"x","value":{"a":[1,2,3],"text":"some text here"}}}`)
	b.ReportAllocs()
	for b.Loop() {
		value.FromJSON(src, 1<<16)
	}
}

func BenchmarkCheck(b *testing.B) {
	raw := fromJSON(b, `{"kind":"LET","payload":{"name":"x","value":{"a":[1,2,3],"text":"some text here"}}}`)
	b.ReportAllocs()
	for b.Loop() {
		value.Check(raw, 1<<16)
	}
}
