package recordjson

import (
	"encoding/hex"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
)

func className(c interning.Class) string {
	switch c {
	case interning.Program:
		return "program"
	case interning.Grants:
		return "grants"
	case interning.Labels:
		return "labels"
	case interning.Env:
		return "env"
	}
	return "unknown"
}

func gained(g *interning.Gained) fields {
	entries := make([]fields, 0, len(g.Entries))
	for _, e := range g.Entries {
		f := fields{"number": e.No, "class": className(e.Class), "new": e.New}
		if e.New {
			digest := interning.DigestOf(e.Class, e.Body)
			f["digest"] = hex.EncodeToString(digest[:])
			f["content"] = content(e.Class, e.Body)
		} else if e.Block > 0 {
			f["position"] = e.Block - 1 // of the block that has the content
		}
		entries = append(entries, f)
	}
	return fields{"entries": entries}
}

// content renders an interned body; nil when it is malformed.
func content(class interning.Class, body []byte) any {
	switch class {
	case interning.Program:
		name, source := flows.ParseProgramBody(body)
		return fields{"evaluator": name, "program": source}
	case interning.Grants:
		if grants, ok := event.DecodeBody[[]permissions.Grant](body); ok {
			return *grants
		}
	case interning.Labels, interning.Env:
		return value.Raw(body) // a map of texts is a value
	}
	return nil
}

// evaluation renders what the gate judged, with a copy of the deciding grant
// as long as the state has the list (PE-2).
func (v *view) evaluation(e *permissions.Evaluation) fields {
	f := fields{"action": e.Action, "resource": e.Resource, "grants": e.Grants, "grant": e.Grant}
	set(f, "level_id", v.agentID(e.Level))
	return v.decidedBy(f, e.Grants, e.Grant)
}

// decidedBy adds a copy of a grant, as long as the state has its list.
func (v *view) decidedBy(f fields, grants uint32, grant int32) fields {
	entry := v.state.Interned.Get(grants)
	if grant < 0 || entry == nil || entry.Class != interning.Grants {
		return f
	}
	if list, ok := event.DecodeBody[[]permissions.Grant](entry.Body); ok && int(grant) < len(*list) {
		f["decided_by"] = (*list)[grant]
	}
	return f
}
