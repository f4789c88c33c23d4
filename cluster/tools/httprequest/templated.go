package httprequest

import (
	"context"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// templated is one registered tool of kind http. Its result is the answer's body,
// where the status is one of 2xx.
type templated struct {
	config *config
	sender *Sender
}

var _ tools.Caller = (*templated)(nil)

// Call sends the request. The arguments have passed the manifest's schema.
func (t *templated) Call(ctx context.Context, r tools.Request) tools.Result {
	address, refused := t.config.address(r.Args)
	if refused != nil {
		return tools.Fail(refused.Code, refused.Message)
	}
	message := Message{Method: t.config.method, Address: address, Key: r.IdempotencyKey}
	message.Body, message.ContentType = t.body(r.Args)
	answer, failed := t.sender.Send(ctx, message)
	if failed != nil {
		return *failed
	}
	result := t.result(&answer)
	result.Usage = answer.Usage
	return result
}

// body is what the arguments that the manifest says make of it.
func (t *templated) body(args value.Raw) (sent []byte, contentType string) {
	switch t.config.body {
	case oneBody:
		raw, _ := args.Get(t.config.argument)
		if text, ok := raw.Text(); ok {
			return []byte(text), "text/plain; charset=utf-8"
		}
		return raw.AppendJSON(nil), "application/json"
	case restBody:
		all, _ := args.ToGo().(map[string]any)
		for name := range t.config.inURL {
			delete(all, name)
		}
		rest, problem := value.FromGo(all)
		if problem != nil || all == nil {
			rest = value.EmptyMap
		}
		return rest.AppendJSON(nil), "application/json"
	}
	return nil, ""
}

// result is what an answer comes to.
func (t *templated) result(answer *Answer) tools.Result {
	decoded, failed := answer.Value()
	if failed != nil {
		return *failed
	}
	result, problem := value.FromGo(decoded)
	if problem != nil {
		return tools.Fail(failure.ToolResultInvalid, answer.used.redact("the answer is no value: "+problem.String()))
	}
	return tools.Succeed(result)
}
