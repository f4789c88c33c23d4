package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/omnikernel/omnikernel/kernel/evaluator/script"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// definition is an agent: the members of event.Define under their names, but for
// script and what its program takes, since input is what it gets.
type definition struct {
	ID        string            `json:"id,omitempty" jsonschema:"the agent's id, a UUID of your own; made by the kernel when left out"`
	Name      string            `json:"name,omitempty" jsonschema:"a name for people, at most 128 bytes"`
	Mode      string            `json:"mode,omitempty" jsonschema:"task ends when its queue is empty, service waits for more; task when left out" enum:"task,service"`
	Labels    map[string]string `json:"labels,omitempty" jsonschema:"at most 32, to find it by"`
	Env       map[string]string `json:"env,omitempty" jsonschema:"at most 64, which the program sees as env"`
	Grants    []grant           `json:"grants,omitempty" jsonschema:"what it may do; everything else is denied"`
	Program   value.Raw         `json:"program,omitempty" jsonschema:"an instruction of std/1, {kind, payload}, such as {\"kind\": \"CALL\", \"payload\": {\"tool\": \"echo\", \"args\": \"hello\"}}"`
	Script    string            `json:"script,omitempty" jsonschema:"instead of a program, a script of script/1: Starlark with def main(input)"`
	Takes     value.Raw         `json:"input_schema,omitempty" jsonschema:"JSON Schema of what its own program takes as input; takes everything when left out"`
	Teardown  value.Raw         `json:"teardown,omitempty" jsonschema:"an instruction that runs last"`
	Budget    *budget           `json:"budget,omitempty" jsonschema:"what it may spend with all that it delegates; 0 is no limit of a kind"`
	MaxDepth  uint32            `json:"max_depth,omitempty" jsonschema:"levels of delegation below it"`
	TTLMillis int64             `json:"ttl_ms,omitempty" jsonschema:"milliseconds after which its authority expires; never when left out" min:"0"`
}

type grant struct {
	Effect         string `json:"effect" jsonschema:"ESCALATE waits for a person's decision" enum:"ALLOW,DENY,ESCALATE"`
	Action         string `json:"action" jsonschema:"such as tool.call, memory.write, agent.delegate"`
	Resource       string `json:"resource" jsonschema:"a pattern of segments between slashes, such as http.request/GET/api.example.com/**"`
	NotAfterMillis int64  `json:"not_after_ms,omitempty" jsonschema:"Unix milliseconds after which it says nothing any more"`
}

type budget struct {
	Tokens      uint64 `json:"tokens,omitempty" jsonschema:"tokens of language models"`
	USDMicros   uint64 `json:"usd_micros,omitempty" jsonschema:"millionths of a US dollar"`
	WallMillis  int64  `json:"wall_ms,omitempty" jsonschema:"milliseconds at work" min:"0"`
	WarnPercent uint32 `json:"warn_percent,omitempty" jsonschema:"of a limit, at which a warning is recorded; 80 when left out" min:"1" max:"100"`
}

// command is the definition as the kernel takes it.
func (d definition) command() (define event.Define, err error) {
	raw, err := json.Marshal(d)
	if err == nil {
		err = json.Unmarshal(raw, &define)
	}
	define.Input = d.Takes
	if err == nil && d.Script != "" {
		define.Program, err = scripted(d.Program, d.Script)
		define.Evaluator = script.Name
	}
	return define, err
}

// scripted is a script as a program.
func scripted(program value.Raw, source string) (value.Raw, error) {
	if len(program) > 0 {
		return nil, invalid("script", "there is a program or a script, not both")
	}
	return value.AppendString(nil, source), nil
}

type defineWanted struct {
	definition
	keyed
}

func defineAgent(ctx context.Context, kernel *client.Client, in defineWanted) (any, error) {
	define, err := in.command()
	if err != nil {
		return nil, err
	}
	return done(kernel.Define(ctx, define, in.once()...))
}

type startWanted struct {
	definition
	Input  value.Raw `json:"input,omitempty" jsonschema:"any JSON value, which the program sees as input"`
	Reason string    `json:"reason,omitempty" jsonschema:"kept in the record, at most 256 bytes"`
	Wait   int64     `json:"wait_ms,omitempty" jsonschema:"wait so long for it to come to rest; not at all when left out" min:"0" max:"60000"`
	keyed
}

func startAgent(ctx context.Context, kernel *client.Client, in startWanted) (any, error) {
	define, err := in.command()
	if err != nil {
		return nil, err
	}
	started, err := kernel.Start(ctx, event.Start{Define: define, Input: in.Input, Reason: in.Reason}, in.once()...)
	if err != nil || in.Wait == 0 {
		return done(started, err)
	}
	return awaitStarted(ctx, kernel, started, in.Wait), nil
}

// once is how a command is sent: by its key, or in the client's session.
func (k keyed) once() []client.Option {
	if k.Key == "" {
		return nil
	}
	return []client.Option{client.IdempotencyKey(k.Key)}
}

// done is a command's answer as a tool's.
func done(answer api.Done, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return answer, nil
}
