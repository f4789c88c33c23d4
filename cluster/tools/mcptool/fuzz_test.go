package mcptool

import (
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnikernel/omnikernel/cluster/tools/httprequest"
	"github.com/omnikernel/omnikernel/cluster/tools/mcpclient"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// FuzzResult: whatever a server of the Model Context Protocol gives as a result
// comes to a value within its bound, or to a failure.
func FuzzResult(f *testing.F) {
	for _, answer := range []string{
		`{"content":[{"type":"text","text":"hello"}]}`, `{"structuredContent":{"n":9007199254740993},"content":[]}`,
		`{"content":[{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"text","text":"x"}],"isError":false}`,
		`{"isError":true,"content":[]}`, `{"content":[{"type":"resource_link","uri":"x","name":"y"}],"_meta":{"omnikernel/usage":{"tokens":1e300}}}`,
	} {
		f.Add([]byte(answer), false)
		f.Add([]byte(answer), true)
	}
	f.Fuzz(func(t *testing.T, answer []byte, output bool) {
		var read mcp.CallToolResult
		if json.Unmarshal(answer, &read) != nil {
			return
		}
		made := &tool{kind: &Kind{maxResult: 4 << 10}, output: output}
		result := made.result(mcpclient.Answer{Result: &read, Secrets: &httprequest.Redactor{}})
		if result.OK {
			if problem := value.Check(result.Value, 4<<10); problem != nil {
				t.Fatalf("%s: no value: %v", answer, problem)
			}
		}
		usageOf(read.Meta)
	})
}
