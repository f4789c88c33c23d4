package llm

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/httprequest"
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
)

// model is one registered tool of kind llm.
type model struct {
	config *config
	sender *httprequest.Sender
}

var _ tools.Caller = (*model)(nil)

// Call sends the conversation, and answers with the model's message.
func (m *model) Call(ctx context.Context, r tools.Request) tools.Result {
	asked, broken := m.config.request(r.Args)
	if broken != "" {
		return tools.Fail(failure.ToolArgsInvalid, broken)
	}
	body, err := json.Marshal(asked)
	if err != nil {
		return tools.Fail(failure.ToolArgsInvalid, "the arguments make no request that can be sent")
	}
	answer, failed := m.sender.Send(ctx, httprequest.Message{
		Method: http.MethodPost, Address: m.config.address, ContentType: "application/json", Body: body, Key: r.IdempotencyKey,
	})
	if failed != nil {
		return refusal(answer.Status, *failed)
	}
	result, said := m.read(&answer)
	result.Usage = said
	if answer.Usage.Metered { // somebody between knows better
		result.Usage = answer.Usage
	}
	return result
}

func (m *model) read(answer *httprequest.Answer) (tools.Result, kerneltools.Usage) {
	decoded, failed := answer.Value()
	if failed != nil {
		return *failed, kerneltools.Usage{}
	}
	all, ok := decoded.(map[string]any)
	if !ok {
		return malformed("is no JSON object"), kerneltools.Usage{}
	}
	return completion(all, answer.Redact), m.config.prices.usage(all)
}

// refusal says in our own words what the statuses mean that a person can do something
// about.
func refusal(status int, failed tools.Result) tools.Result {
	free := true
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		failed.Message, free = "the service does not take the request (status 400 or 422): an argument that this model does not know, or a conversation that is too long for it", false
	case http.StatusUnauthorized, http.StatusForbidden:
		failed.Message = "the service does not let this request in (status 401 or 403): look at the manifest's secret, and at what it is allowed"
	case http.StatusPaymentRequired:
		failed.Message = "the service wants to be paid first (status 402)"
	case http.StatusNotFound:
		failed.Message = "the service has no such model, or nothing at that address (status 404): look at config.model and config.url"
	case http.StatusRequestEntityTooLarge:
		failed.Message = "the conversation is too large for the service (status 413)"
	default:
		return failed
	}
	if free && !failed.Usage.Metered {
		failed.Usage.Metered = true // nobody was at work for it
	}
	return failed
}
