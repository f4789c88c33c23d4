package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// maxResultBytes bounds a result, as JSON. Pages end before it.
const maxResultBytes = 256 << 10

// Codes of this server; the others are the cluster's.
const (
	codeInternal       = api.CodeInternal
	codeUnknown        = "OUTCOME_UNKNOWN"
	codeUnreachable    = "UNREACHABLE"
	codeResultTooLarge = "RESULT_TOO_LARGE"
	codeCancelled      = "CANCELLED"
)

const lookFirst = "look before you do it again: agent_get, agent_list; or do it again with the same idempotency_key"

// refusal is what a tool that did not do its work answers. Definite is false when it
// may have taken effect, or may yet.
type refusal struct {
	Code     string `json:"code"`
	Definite bool   `json:"definite"`
	Message  string `json:"message"`
	Field    string `json:"field,omitempty"`
	Rule     string `json:"rule,omitempty"`
	Hint     string `json:"hint,omitempty"`
	AgentID  string `json:"agent_id,omitempty"`
	State    string `json:"state,omitempty"`
	Index    uint64 `json:"index,omitempty"`
}

// Error is the message.
func (r *refusal) Error() string { return r.Code + ": " + r.Message }

// refusalOf describes any error of a tool.
func refusalOf(err error) *refusal {
	var (
		own         *refusal
		said        *api.Error
		unknown     *client.Unknown
		unreachable *client.Unreachable
		usage       *client.Usage
	)
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &unknown):
		return &refusal{Code: codeUnknown, Message: unknown.Error(), Hint: lookFirst}
	case errors.As(err, &said):
		return &refusal{
			Code: said.Code, Definite: said.Definite, Message: said.Message, Field: said.Field, Rule: said.Rule, Hint: said.Hint,
			AgentID: said.AgentID, State: said.State, Index: said.Index,
		}
	case errors.As(err, &unreachable):
		return &refusal{Code: codeUnreachable, Definite: true, Message: unreachable.Error(), Hint: "is the cluster running, and does omni mcp have its address?"}
	case errors.As(err, &usage):
		return &refusal{Code: api.CodeInvalidArgument, Definite: true, Message: usage.Problem}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &refusal{Code: codeCancelled, Message: "the call was given up before it was answered", Hint: lookFirst}
	}
	return &refusal{Code: codeInternal, Message: "the tool failed inside; what it did is not known", Hint: lookFirst}
}

func refused(r *refusal) *mcp.CallToolResult {
	raw, err := encode(r)
	if err != nil {
		raw = []byte(`{"code":"` + codeInternal + `"}`)
	}
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: string(raw)}}, StructuredContent: json.RawMessage(raw)}
}

// answered is a result, as JSON twice: for programs, and as text for clients that
// show a model nothing else.
func answered(answer any) *mcp.CallToolResult {
	raw, err := encode(answer)
	if err != nil {
		return refused(&refusal{Code: codeInternal, Definite: true, Message: "the answer does not encode"})
	}
	if len(raw) > maxResultBytes {
		return refused(tooLarge())
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(raw)}}, StructuredContent: json.RawMessage(raw)}
}

func tooLarge() *refusal {
	return &refusal{
		Code: codeResultTooLarge, Definite: true, Message: "the answer is larger than a result may be, 256 KiB; what was asked for is done",
		Hint: "ask for fewer items, or use the command line or the HTTP API",
	}
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// fitting counts how many items, from the first on, a result has room for. That there
// is none for even one is an error.
func fitting[T any](items []T) (int, error) {
	const rest = 4 << 10 // what stands around them
	room := maxResultBytes - rest
	for i := range items {
		raw, err := encode(&items[i])
		if err != nil {
			return 0, err
		}
		if room -= len(raw) + 1; room < 0 {
			if i == 0 {
				return 0, tooLarge()
			}
			return i, nil
		}
	}
	return len(items), nil
}

// paged cuts a page to what fits. next is told the items that are left and the first
// that is not, and is only asked when there is one.
func paged[T any](items *[]T, next func(last, first *T)) error {
	n, err := fitting(*items)
	if err != nil || n == len(*items) {
		return err
	}
	next(&(*items)[n-1], &(*items)[n])
	*items = (*items)[:n]
	return nil
}
