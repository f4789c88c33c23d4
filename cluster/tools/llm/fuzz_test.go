package llm

import (
	"testing"

	"github.com/omnikernel/omnikernel/kernel/value"
)

// FuzzCompletion: whatever JSON a service calls a completion comes to a value, or
// to a failure.
func FuzzCompletion(f *testing.F) {
	for _, answer := range []string{
		`{"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4},"model":"m"}`,
		`{"choices":[{"message":{"content":null,"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{\"a\":1}"}}]}}]}`,
		`{"choices":[{"message":{"tool_calls":[{"id":1,"function":[]}]}}]}`, `{"choices":[[]],"usage":[]}`, `{}`, `{"choices":{}}`,
	} {
		f.Add([]byte(answer))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		raw, problem := value.FromJSON(answer, 4*len(answer)+16)
		if problem != nil {
			return
		}
		all, ok := raw.ToGo().(map[string]any)
		if !ok {
			return
		}
		result := completion(all, func(v any) any { return v })
		if result.OK {
			if problem := value.Check(result.Value, 64*len(answer)+1024); problem != nil {
				t.Fatalf("%s: no value: %v", answer, problem)
			}
		}
		(&prices{}).usage(all)
	})
}
