package mcptool

import (
	"encoding/json"
	"math"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/mcpclient"
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// result makes a value of an answer: its structured content where it has that; the text
// where its content is one text; otherwise the list of its content, each as the
// protocol writes it. What a tool says when it failed is not our own words, and stays
// out.
func (t *tool) result(a mcpclient.Answer) tools.Result {
	switch {
	case a.Result.IsError:
		return tools.Fail(failure.ToolFailed, "the server's tool says that it failed")
	case a.Result.StructuredContent != nil:
		if !exact(a.Result.StructuredContent) {
			return tools.Fail(failure.ToolResultInvalid, "the answer has an integer that is too large to be told exactly")
		}
		return t.made(a, a.Result.StructuredContent)
	case t.output:
		return tools.Fail(failure.ToolResultInvalid, "the manifest has an output schema, and the answer has no structured content")
	}
	if len(a.Result.Content) == 1 {
		if text, ok := a.Result.Content[0].(*mcp.TextContent); ok {
			return t.made(a, text.Text)
		}
	}
	content, size := make([]any, 0, len(a.Result.Content)), 0
	for _, one := range a.Result.Content {
		wire, err := one.MarshalJSON()
		if size += len(wire); size > 2*t.kind.maxResult {
			return tooLarge(t.kind.maxResult)
		}
		var decoded any
		if err == nil {
			err = json.Unmarshal(wire, &decoded)
		}
		if err != nil {
			return tools.Fail(failure.ToolResultInvalid, "the answer has content that the protocol does not know")
		}
		content = append(content, decoded)
	}
	return t.made(a, content)
}

func (t *tool) made(a mcpclient.Answer, decoded any) tools.Result {
	made, problem := value.FromGo(a.Secrets.Value(decoded))
	switch {
	case problem != nil:
		return tools.Fail(failure.ToolResultInvalid, a.Secrets.Text("the answer is no value: "+problem.String()))
	case len(made) > t.kind.maxResult:
		return tooLarge(t.kind.maxResult)
	}
	return tools.Succeed(made)
}

// maxExact is up to where a number of JSON is told exactly by the protocol's library.
const maxExact = 1 << 53

// exact tells whether a decoded JSON value says what was sent.
func exact(v any) bool {
	switch v := v.(type) {
	case float64:
		return math.Abs(v) < maxExact || math.Abs(v) >= 1<<63 || v != math.Trunc(v) // from 2^63 on it is no integer of ours
	case []any:
		for _, item := range v {
			if !exact(item) {
				return false
			}
		}
	case map[string]any:
		for _, member := range v {
			if !exact(member) {
				return false
			}
		}
	}
	return true
}

// usageOf is what a server says that the call cost.
func usageOf(meta mcp.Meta) kerneltools.Usage {
	said, ok := meta[mcpclient.UsageMeta].(map[string]any)
	if !ok {
		return kerneltools.Usage{}
	}
	var u kerneltools.Usage
	for name, to := range map[string]*uint64{"tokens": &u.Tokens, "usd_micros": &u.USDMicros} {
		if n, ok := said[name].(float64); ok && n >= 0 && n <= kerneltools.MaxCost && n == math.Trunc(n) {
			*to, u.Metered = uint64(n), true
		}
	}
	return u
}
