package kerneltest

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// wanted is a call of memory.* or shared.*, taken apart.
type wanted struct {
	op        string
	shared    bool
	parent    bool
	namespace string
	key       string
	value     value.Raw
	version   *uint64
	after     string
	limit     int64
}

func parseMemory(c *call) (w wanted, broken bool) {
	scope, op, _ := strings.Cut(c.tool, ".")
	w = wanted{op: op, shared: scope == "shared", limit: 1000}
	allowed := map[string]string{
		"read": "key agent", "write": "key value version", "delete": "key version", "list": "prefix after limit agent",
	}[op]
	if w.shared {
		allowed = strings.TrimSuffix(allowed, " agent") + " namespace"
	}
	got := members(c.args)
	for name := range got {
		broken = broken || !slices.Contains(strings.Fields(allowed), name)
	}
	must := func(ok bool) { broken = broken || !ok }
	if raw, ok := got["agent"]; ok {
		who, _ := raw.Text()
		w.parent = true
		must(who == "parent")
	}
	if w.shared {
		w.namespace, _ = got["namespace"].Text()
		must(goodNamespace(w.namespace))
	}
	if raw, ok := got["prefix"]; op == "list" && ok {
		w.key, _ = raw.Text()
		must(goodKey(w.key))
	} else if op != "list" {
		w.key, _ = got["key"].Text()
		must(goodKey(w.key))
	}
	if op == "write" {
		var ok bool
		w.value, ok = got["value"]
		must(ok)
	}
	if raw, ok := got["version"]; ok && raw.Kind() != value.NullKind {
		version, ok := raw.Int()
		must(ok && version >= 0)
		expected := uint64(version)
		w.version = &expected
	}
	if raw, ok := got["limit"]; ok {
		w.limit, ok = raw.Int()
		must(ok && w.limit >= 1 && w.limit <= 1000)
	}
	if raw, ok := got["after"]; ok {
		w.after, ok = raw.Text()
		must(ok && len(w.after) <= 256)
	}
	return w, broken
}

func goodKey(key string) bool {
	if len(key) > 256 || strings.Count(key, "/") > 62 {
		return false
	}
	for _, segment := range strings.Split(key, "/") {
		if !goodText(segment) {
			return false
		}
	}
	return true
}

func goodNamespace(namespace string) bool {
	return len(namespace) <= 64 && !strings.Contains(namespace, "/") && goodText(namespace)
}

func goodText(s string) bool {
	return s != "" && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f || r == '*' })
}

func (w *wanted) resource() string {
	first := "self"
	if w.shared {
		first = w.namespace
	} else if w.parent {
		first = "parent"
	}
	if w.key == "" {
		return first
	}
	return first + "/" + w.key
}

// space is the map that a request is about; nil for that of nobody's parent.
func (n *Naive) space(a *agent, w *wanted) map[string]stored {
	if w.shared {
		if n.shared[w.namespace] == nil {
			n.shared[w.namespace] = make(map[string]stored)
		}
		return n.shared[w.namespace]
	}
	if w.parent {
		if a.parent == nil {
			return nil
		}
		return a.parent.memory
	}
	return a.memory
}

// access answers a request for memory (ME-1, ME-2).
func (n *Naive) access(a *agent, c *call) {
	w, _ := parseMemory(c)
	memory := n.space(a, &w)
	if memory == nil {
		n.fails(a, c, failure.ToolArgsInvalid)
		return
	}
	was, found := memory[w.key]
	if code := n.full(a, &w); code != "" {
		n.fails(a, c, code)
		return
	}
	answer := make(map[string]value.Raw)
	switch w.op {
	case "read":
		answer["found"], answer["value"] = value.AppendBool(nil, found), value.Null
		if found {
			answer["value"] = was.value
		}
		answer["version"] = value.AppendInt(nil, int64(was.version))
	case "write":
		now := stored{w.value, n.version()}
		memory[w.key] = now
		answer["version"] = value.AppendInt(nil, int64(now.version))
	case "delete":
		delete(memory, w.key)
		answer["deleted"] = value.AppendBool(nil, found)
	case "list":
		answer["keys"], answer["more"] = listed(memory, &w)
	}
	n.succeeds(a, c, object(answer))
}

// version is the version of a write: the place of its record in the log.
func (n *Naive) version() (version uint64) {
	if len(n.versions) > 0 {
		version, n.versions = n.versions[0], n.versions[1:]
	}
	return version
}

func listed(memory map[string]stored, w *wanted) (keys, more value.Raw) {
	var names []string
	for key := range memory {
		if (w.key == "" || strings.HasPrefix(key, w.key+"/")) && key > w.after {
			names = append(names, key)
		}
	}
	slices.Sort(names)
	cut := len(names) > int(w.limit)
	if cut {
		names = names[:w.limit]
	}
	var items []value.Raw
	for _, key := range names {
		items = append(items, object(map[string]value.Raw{"key": textOf(key), "version": value.AppendInt(nil, int64(memory[key].version))}))
	}
	return list(items), value.AppendBool(nil, cut)
}

// full tells why a write or a delete cannot be (ME-1): another version than
// expected, or a memory that would grow beyond a limit.
func (n *Naive) full(a *agent, w *wanted) failure.Code {
	if w.op != "write" && w.op != "delete" {
		return ""
	}
	was, found := n.space(a, w)[w.key]
	if w.version != nil && *w.version != was.version {
		return failure.VersionConflict
	}
	grows := len(w.value) - len(was.value)
	if w.op == "delete" || found && grows <= 0 {
		return ""
	}
	if !found {
		grows += len(w.key) + len(w.namespace)
	}
	keys, bytes := 0, grows
	if w.shared {
		for namespace, memory := range n.shared {
			keys += len(memory)
			for key, s := range memory {
				bytes += len(namespace) + len(key) + len(s.value)
			}
		}
		if !found && keys >= int(n.config.MaxSharedKeys) || bytes > int(n.config.MaxSharedBytes) {
			return failure.MemoryFull
		}
		return ""
	}
	all := grows
	for _, other := range n.agents {
		for key, s := range other.memory {
			all += len(key) + len(s.value)
			if other == a {
				keys++
				bytes += len(key) + len(s.value)
			}
		}
	}
	if !found && keys >= int(n.config.MaxMemoryKeys) || bytes > int(n.config.MaxMemoryBytes) || all > int(n.config.MaxPersistentBytes) {
		return failure.MemoryFull
	}
	return ""
}
