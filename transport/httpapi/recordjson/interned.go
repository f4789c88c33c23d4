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
	case interning.Input:
		return "input"
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
	case interning.Labels, interning.Env, interning.Input:
		return value.Raw(body) // a map of texts is a value, and so is a schema
	}
	return nil
}

// evaluation renders what the gate judged, and which grant of which list decided
// (PE-2). The list is in the log under its number, which is never given again.
func (v *view) evaluation(e *permissions.Evaluation) fields {
	f := fields{"action": e.Action, "resource": e.Resource, "grants": e.Grants, "grant": e.Grant}
	return set(f, "level_id", v.agentID(e.Level))
}
