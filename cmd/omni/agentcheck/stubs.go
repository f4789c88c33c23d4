package agentcheck

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cmd/omni/agentfile"
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Stubs are what tools answer in a dry run, by their names: each list in its order, and
// its last answer again and again.
type Stubs map[string][]Stub

// Stub is one answer: a value, or a failure's code.
type Stub struct {
	Args    value.Raw    `json:"args,omitempty"` // only for calls whose arguments have these members
	Value   value.Raw    `json:"value,omitempty"`
	Code    failure.Code `json:"code,omitempty"`
	Message string       `json:"message,omitempty"`
}

// maxStubs bounds the answers of one tool.
const maxStubs = 1000

// ReadStubs reads a file of stubs, YAML or JSON: {TOOL: [{value}, {code, message}, …]}.
func ReadStubs(name string, stdin io.Reader) (Stubs, error) {
	f, err := agentfile.Read(name, stdin, agentfile.Stubs)
	if err != nil {
		return nil, err
	}
	var stubs Stubs
	if err := json.Unmarshal(f.Document(), &stubs); err != nil {
		return nil, &agentfile.Problem{File: f.Name, Rule: err.Error()}
	}
	for tool, answers := range stubs {
		for i, a := range answers {
			field := fmt.Sprintf("%s[%d]", value.JoinKey(tool, ""), i)
			if rule := a.wrong(); rule != "" || i >= maxStubs {
				problem := &agentfile.Problem{File: f.Name, Field: field, Rule: rule}
				if rule == "" {
					problem.Rule = fmt.Sprintf("a tool has at most %d answers", maxStubs)
				}
				problem.Line, problem.Column, _ = f.At(field)
				return nil, problem
			}
		}
	}
	return stubs, nil
}

// codeWord is the form of a failure's code.
var codeWord = regexp.MustCompile(`^[A-Z][A-Z_]*[A-Z]$`)

func (s *Stub) wrong() string {
	switch {
	case s.Code != "" && len(s.Value) > 0:
		return "has a value or a code, not both"
	case s.Code != "" && !codeWord.MatchString(string(s.Code)):
		return "code must be a failure's, such as TOOL_TIMEOUT"
	case s.Code == "" && s.Message != "":
		return "a message goes with a code"
	}
	return ""
}

// stubbed answers the calls of the dry run in place of every adapter.
type stubbed struct {
	stubs Stubs

	mu   sync.Mutex // guards used and by
	used map[string]int
	by   map[string]string // who answered, by the call's idempotency key
}

// Who answered a call.
const (
	byKernel  = "kernel"
	byStub    = "stub"
	byDefault = "default"
)

// stubKind is what manifests name as their adapter in a dry run.
const stubKind = "stub"

// Name of the kind.
func (s *stubbed) Name() string { return stubKind }

// Check finds nothing wrong: the real adapter's part is the node's to judge.
func (s *stubbed) Check(*kerneltools.Manifest) *failure.Refusal { return nil }

// Make makes the stub of one tool.
func (s *stubbed) Make(m *kerneltools.Manifest) (tools.Caller, error) {
	return &stub{of: s, name: m.Name, output: m.Output}, nil
}

// fine is what http.request answers: the least that fits its schema would be no answer
// that a program goes on after.
var fine = func() value.Raw {
	raw, _ := value.FromJSON([]byte(`{"status":200,"headers":{},"body":null}`), agentfile.MaxBytes)
	return raw
}()

// stub is one tool.
type stub struct {
	of       *stubbed
	name     string
	output   value.Raw
	manifest tools.Manifest // of one that is built in
}

// Manifest of a tool that is built in.
func (s *stub) Manifest() tools.Manifest { return s.manifest }

// Call answers with the tool's next stub, or with what its output schema suggests.
func (s *stub) Call(_ context.Context, r tools.Request) tools.Result {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	answer, ok := s.of.next(s.name, r.Args)
	if ok {
		s.of.by[r.IdempotencyKey] = byStub
		if answer.Code != "" {
			return tools.Fail(answer.Code, answer.Message)
		}
		if len(answer.Value) == 0 {
			return tools.Succeed(value.Null)
		}
		return tools.Succeed(answer.Value)
	}
	s.of.by[r.IdempotencyKey] = byDefault
	switch {
	case s.name == "echo":
		return tools.Succeed(r.Args)
	case s.name == kerneltools.HTTPTool:
		return tools.Succeed(fine)
	case len(s.output) == 0:
		return tools.Succeed(value.Null)
	}
	made, ok := sample(s.output)
	if !ok {
		return tools.Fail(failure.ToolFailed, "no value that fits the tool's output schema was found: give a stub")
	}
	return tools.Succeed(made)
}

// next is the answer to a call of the tool: the first that it has not given, of those
// that are for such arguments, or the last of them.
func (s *stubbed) next(tool string, args value.Raw) (*Stub, bool) {
	var fitting []int
	for i, a := range s.stubs[tool] {
		if has(args, a.Args) {
			fitting = append(fitting, i)
		}
	}
	if len(fitting) == 0 {
		return nil, false
	}
	for _, i := range fitting {
		key := fmt.Sprint(tool, "\x00", i)
		if s.used[key] == 0 || i == fitting[len(fitting)-1] {
			s.used[key]++
			return &s.stubs[tool][i], true
		}
	}
	return nil, false
}

// has reports whether arguments have all the members that a stub is for.
func has(args, want value.Raw) bool {
	if len(want) == 0 {
		return true
	}
	rd := value.NewReader(want)
	n, ok := rd.ReadMapHeader()
	if !ok {
		return slices.Equal(args, want)
	}
	for range n {
		name, _ := rd.ReadString()
		member := rd.Skip()
		got, there := args.Get(name)
		if !there || !has(got, member) {
			return false
		}
	}
	return true
}

// ParseStub reads TOOL=JSON.
func ParseStub(text string) (tool string, s Stub, problem string) {
	tool, src, ok := strings.Cut(text, "=")
	if !ok || !kerneltools.IsName(tool) {
		return "", s, "must be TOOL=JSON"
	}
	v, bad := value.FromJSON([]byte(src), agentfile.MaxBytes)
	if bad != nil {
		return "", s, "is no JSON value: " + bad.String()
	}
	return tool, Stub{Value: v}, ""
}
