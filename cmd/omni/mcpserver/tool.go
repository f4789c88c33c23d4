package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnikernel/omnikernel/cluster/tools/schema"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// maxArgumentBytes is more than any command may be; the cluster's own limits are its
// configuration's.
const maxArgumentBytes = 1 << 20

// tool is one tool of the server.
type tool struct {
	*mcp.Tool
	reads bool // it changes nothing
	call  func(ctx context.Context, kernel *client.Client, arguments json.RawMessage) (any, error)
}

// does is what a tool with arguments of type In does.
type does[In any] func(ctx context.Context, kernel *client.Client, in In) (any, error)

// reading is a tool that changes nothing.
func reading[In any](name, description string, do does[In]) *tool {
	t := newTool(name, description, do)
	t.reads = true
	t.Annotations = &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)}
	return t
}

// adding is a tool that adds something: an agent, a message.
func adding[In any](name, description string, do does[In]) *tool {
	t := newTool(name, description, do)
	t.Annotations = &mcp.ToolAnnotations{DestructiveHint: new(bool)}
	return t
}

// changing is a tool that decides, holds or ends something.
func changing[In any](name, description string, do does[In]) *tool {
	destroys := true
	t := newTool(name, description, do)
	t.Annotations = &mcp.ToolAnnotations{DestructiveHint: &destroys}
	return t
}

// newTool makes a tool whose schema is that of In. It panics when In has none: that is
// this package's mistake, and every test finds it.
func newTool[In any](name, description string, do does[In]) *tool {
	input, text := schemaOf[In]()
	check, err := schema.Compile(text)
	if err != nil {
		panic(fmt.Sprintf("mcpserver: the schema of %s: %v", name, err))
	}
	return &tool{
		Tool: &mcp.Tool{Name: name, Description: description, InputSchema: input},
		call: func(ctx context.Context, kernel *client.Client, arguments json.RawMessage) (any, error) {
			var in In
			if err := decode(check, arguments, &in); err != nil {
				return nil, err
			}
			return do(ctx, kernel, in)
		},
	}
}

// decode reads arguments strictly: as values of the kernel are read, and by the tool's
// schema.
func decode(check *schema.Schema, arguments json.RawMessage, into any) error {
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	args, problem := value.FromJSON(arguments, maxArgumentBytes)
	if problem != nil {
		return invalid(problem.Path, problem.Rule)
	}
	if field, rule := check.Broken(args); rule != "" {
		return invalid(field, rule)
	}
	// In the canonical form 1.0 is 1: what the schema calls an integer is written as one.
	if err := json.Unmarshal(args.AppendJSON(nil), into); err != nil {
		var mistyped *json.UnmarshalTypeError
		if errors.As(err, &mistyped) {
			return invalid(mistyped.Field, "must be within the range of "+mistyped.Type.String())
		}
		return invalid("", "must be what the tool's schema says")
	}
	return nil
}

func invalid(field, rule string) *refusal {
	r := &refusal{Code: api.CodeInvalidArgument, Definite: true, Field: field, Rule: rule, Message: rule, Hint: "the tool's input schema says what it takes"}
	if field != "" {
		r.Message = field + ": " + rule
	}
	return r
}
