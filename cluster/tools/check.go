package tools

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/omnikernel/omnikernel/cluster/tools/schema"
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

var errNoKind = errors.New("this node has no adapter of that kind")

// Check is what the door asks about a manifest, beyond what the kernel does: its
// adapter is one that there is, its schemas compile, what its calls are judged by is
// an argument that they must have, and the adapter finds nothing wrong. The field is
// a path within the manifest.
func (r *Registry) Check(m *kerneltools.Manifest) *failure.Refusal {
	kind, ok := r.kinds[m.Adapter]
	if !ok {
		hint := "it has: " + strings.Join(r.Kinds(), ", ")
		if takes := r.absent[m.Adapter]; takes != "" {
			hint = takes
		}
		return &failure.Refusal{Code: failure.InvalidArgument, Field: "adapter", Rule: "is none that this node has", Hint: hint}
	}
	if _, elsewhere := kind.(Elsewhere); !elsewhere && m.TimeoutMillis > MaxTime.Milliseconds() {
		return refused("timeout_ms", "must be at most "+strconv.FormatInt(MaxTime.Milliseconds(), 10)+", an hour, for calls that a node makes")
	}
	for _, s := range [...]struct {
		field string
		raw   value.Raw
	}{{"input", m.Input}, {"output", m.Output}} {
		if _, r := schema.Of(s.raw, s.field); r != nil {
			return r
		}
	}
	for i, name := range m.Segments {
		if rule := Argument(m, name, true, "string", "integer"); rule != "" {
			return refused("resource["+strconv.Itoa(i)+"]", rule)
		}
	}
	return kind.Check(m)
}

// Kinds names the kinds of adapters that this node has, in order.
func (r *Registry) Kinds() []string { return slices.Sorted(maps.Keys(r.kinds)) }

func refused(field, rule string) *failure.Refusal {
	return &failure.Refusal{Code: failure.InvalidArgument, Field: field, Rule: rule}
}

// Argument says why a manifest cannot rely on an argument: its input schema must
// have it as a property, of one of the types, and where it is needed require it.
// Empty when it can.
func Argument(m *kerneltools.Manifest, name string, needed bool, types ...string) string {
	properties, _ := m.Input.Get("properties")
	property, ok := properties.Get(name)
	if !ok {
		return "names the argument " + strconv.Quote(name) + ", which input.properties must have"
	}
	has, _ := property.Get("type")
	if text, ok := has.Text(); !ok || !slices.Contains(types, text) {
		return "names the argument " + strconv.Quote(name) + ", which must have a type in input.properties: " + strings.Join(types, " or ")
	}
	if needed && !slices.Contains(required(m), name) {
		return "names the argument " + strconv.Quote(name) + ", which input.required must list"
	}
	return ""
}

func required(m *kerneltools.Manifest) (names []string) {
	list, _ := m.Input.Get("required")
	rd := value.NewReader(list)
	n, _ := rd.ReadListHeader()
	for range n {
		name, ok := rd.ReadString()
		if !ok {
			return nil
		}
		names = append(names, name)
	}
	return names
}
