package mcptool

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/mcpclient"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// tool is one tool of one server.
type tool struct {
	kind       *Kind
	link       *shared
	name       string
	idempotent bool
	output     bool // the manifest says what the result is
}

var _ tools.Caller = (*tool)(nil)

// Close gives the connection back.
func (t *tool) Close() error {
	t.kind.give(t.link)
	return nil
}

// Call calls the server's tool. The arguments have passed the manifest's schema.
func (t *tool) Call(ctx context.Context, r tools.Request) tools.Result {
	if _, ok := r.Args.ToGo().(map[string]any); !ok {
		return tools.Fail(failure.ToolArgsInvalid, "the arguments of a tool of kind mcp must be an object")
	}
	answer, failed := t.link.client.Call(ctx, t.name, r.Args.AppendJSON(nil), r.IdempotencyKey)
	if failed != nil {
		return t.failure(failed)
	}
	result := t.result(answer)
	result.Usage = usageOf(answer.Result.Meta)
	return result
}

// failure is the result of a call that has no answer.
func (t *tool) failure(f *mcpclient.Failure) tools.Result {
	var result tools.Result
	switch f.What {
	case mcpclient.NotMade:
		return tools.Fail(failure.ToolUnreachable, f.Text)
	case mcpclient.Late:
		return tools.Fail(failure.ToolTimeout, f.Text)
	case mcpclient.Flooded:
		result = tools.Fail(failure.ToolResultTooLarge, f.Text)
	case mcpclient.Garbled:
		result = tools.Fail(failure.ToolResultInvalid, f.Text)
	case mcpclient.Refused:
		if f.Code == 0 {
			return tools.Fail(failure.ToolFailed, f.Text)
		}
		return tools.Fail(failure.ToolFailed, f.Text+": "+strconv.FormatInt(f.Code, 10))
	case mcpclient.Status:
		return t.refusal(f)
	case mcpclient.Forbidden:
		return tools.Fail(failure.ToolFailed, f.Text)
	default:
		result = tools.Fail(failure.OutcomeUnknown, f.Text)
	}
	result.Passing = true
	return result
}

// refusal is the result of a status that is none of success. Of a gateway that had no
// answer nobody knows.
func (t *tool) refusal(f *mcpclient.Failure) tools.Result {
	switch f.Status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if t.idempotent {
			break
		}
		return tools.Fail(failure.OutcomeUnknown, f.Text+": the call may or may not have happened")
	}
	result := tools.Fail(failure.ToolFailed, f.Text)
	result.Passing = f.Status >= 500
	return result
}

func tooLarge(max int) tools.Result {
	return tools.Fail(failure.ToolResultTooLarge, fmt.Sprintf("the answer is larger than %d bytes", max))
}
