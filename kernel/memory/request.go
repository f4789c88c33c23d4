package memory

import (
	"strings"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// MaxListed bounds how many keys one listing answers.
const MaxListed = 1000

// Request is a call of one of the kernel tools memory.* and shared.*, taken
// apart.
type Request struct {
	Op        Op
	Scope     Scope
	Parent    bool // the memory of the agent's parent: read and list only (DE-4)
	Namespace string
	Key       string // of a listing: the segments that keys begin with, or empty
	Value     value.Raw
	Version   *uint64 // compare-and-set: the version that must be there, 0 for none
	After     string  // of a listing: keys behind this one
	Limit     uint32
}

// fields of each operation beside those of its scope.
var opFields = map[Op][]string{
	OpRead: {"key"}, OpWrite: {"key", "value", "version"}, OpDelete: {"key", "version"}, OpList: {"prefix", "after", "limit"},
}

// ParseRequest takes the arguments of the tool apart: memory.read {key, agent?},
// memory.write {key, value, version?}, memory.delete {key, version?}, memory.list
// {prefix?, after?, limit?, agent?}, and shared.* with a namespace each. What it
// refuses is TOOL_ARGS_INVALID, naming the member and the rule.
func ParseRequest(tool string, args value.Raw) (Request, *failure.Failure) {
	scope, op, _ := strings.Cut(tool, ".")
	r := Request{Scope: ScopePersistent, Limit: MaxListed}
	if scope == "shared" {
		r.Scope = ScopeShared
	}
	for o := OpRead; o <= OpList; o++ {
		if opNames[o] == op {
			r.Op = o
		}
	}
	allowed := opFields[r.Op]
	switch {
	case r.Scope == ScopeShared:
		allowed = append([]string{"namespace"}, allowed...)
	case r.Op == OpRead || r.Op == OpList:
		allowed = append([]string{"agent"}, allowed...)
	}
	if rule := onlyFields(args, allowed); rule != "" {
		return r, invalid(rule)
	}
	for _, parse := range [...]func(value.Raw) string{r.parsePlace, r.parseContent, r.parseListing} {
		if rule := parse(args); rule != "" {
			return r, invalid(rule)
		}
	}
	return r, nil
}

func invalid(rule string) *failure.Failure {
	return &failure.Failure{Code: failure.ToolArgsInvalid, Message: failure.Clip(rule)}
}

// onlyFields returns the rule that the arguments break by their names.
func onlyFields(args value.Raw, allowed []string) string {
	rd := value.NewReader(args)
	n, ok := rd.ReadMapHeader()
	if !ok {
		return "the arguments must be a map"
	}
	for range n {
		name, _ := rd.ReadString()
		known := false
		for _, field := range allowed {
			known = known || field == name
		}
		if !known {
			return "unknown argument " + name + "; known are: " + strings.Join(allowed, ", ")
		}
		rd.Skip()
	}
	return ""
}

func (r *Request) parsePlace(args value.Raw) string {
	if raw, given := args.Get("agent"); given {
		if text, ok := raw.Text(); !ok || text != "parent" {
			return "agent must be parent, or left out for the agent's own memory"
		}
		r.Parent = true
	}
	if r.Scope == ScopeShared {
		raw, _ := args.Get("namespace")
		var ok bool
		if r.Namespace, ok = raw.Text(); !ok {
			return "namespace must be text"
		}
		if rule := CheckNamespace(r.Namespace); rule != "" {
			return "namespace: " + rule
		}
	}
	name := "key"
	if r.Op == OpList {
		name = "prefix"
	}
	raw, given := args.Get(name)
	if !given && r.Op == OpList {
		return ""
	}
	var ok bool
	if r.Key, ok = raw.Text(); !ok {
		return name + " must be text"
	}
	if rule := CheckKey(r.Key); rule != "" {
		return name + ": " + rule
	}
	return ""
}

func (r *Request) parseContent(args value.Raw) string {
	if r.Op == OpWrite {
		var given bool
		if r.Value, given = args.Get("value"); !given {
			return "value is missing"
		}
	}
	raw, given := args.Get("version")
	if !given || raw.Kind() == value.NullKind {
		return ""
	}
	n, ok := raw.Int()
	if !ok || n < 0 {
		return "version must be an integer of at least 0"
	}
	version := uint64(n)
	r.Version = &version
	return ""
}

func (r *Request) parseListing(args value.Raw) string {
	if raw, given := args.Get("after"); given {
		var ok bool
		if r.After, ok = raw.Text(); !ok || len(r.After) > MaxKeyBytes {
			return "after must be a key"
		}
	}
	if raw, given := args.Get("limit"); given {
		n, ok := raw.Int()
		if !ok || n < 1 || n > MaxListed {
			return "limit must be an integer from 1 to 1000"
		}
		r.Limit = uint32(n)
	}
	return ""
}

// Action is what the request is judged as: memory.read, shared.write … A
// listing tells keys, not values, and is judged as a read.
func (r *Request) Action() string {
	op := r.Op
	if op == OpList {
		op = OpRead
	}
	if r.Scope == ScopeShared {
		return "shared." + op.String()
	}
	return "memory." + op.String()
}

// Resource is what the request is about (PE-1): self/KEY or parent/KEY, and
// NAMESPACE/KEY of shared memory.
func (r *Request) Resource() string {
	resource := "self"
	switch {
	case r.Scope == ScopeShared:
		resource = r.Namespace
	case r.Parent:
		resource = "parent"
	}
	if r.Key != "" {
		resource += "/" + r.Key
	}
	return resource
}
