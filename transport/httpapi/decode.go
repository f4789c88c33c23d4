package httpapi

import (
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// The decoders take the commands' structs from canonical values: the JSON
// names of kernel/event, unknown ones refused, every refusal with its path. A
// test holds them against the structs' tags.

func decodeDefine(raw value.Raw, path string) (*event.Define, *api.Error) {
	d := new(event.Define)
	return d, eachField(raw, path, func(f field) *api.Error {
		switch f.key {
		case "id":
			return f.text(&d.ID)
		case "name":
			return f.text(&d.Name)
		case "evaluator":
			return f.text(&d.Evaluator)
		case "mode":
			return f.text(&d.Mode)
		case "labels":
			return f.texts(&d.Labels)
		case "env":
			return f.texts(&d.Env)
		case "budget":
			d.Budget = new(event.Budget)
			return decodeBudget(f, d.Budget)
		case "grants":
			return decodeGrants(f, &d.Grants)
		case "program":
			return f.any(&d.Program)
		case "teardown":
			return f.any(&d.Teardown)
		case "input":
			return f.any(&d.Input)
		case "max_depth":
			return f.whole32(&d.MaxDepth)
		case "ttl_ms":
			return f.integer(&d.TTLMillis)
		}
		return f.unknown("budget, env, evaluator, grants, id, input, labels, max_depth, mode, name, program, teardown, ttl_ms")
	})
}

func decodeBudget(f field, into *event.Budget) *api.Error {
	return eachField(f.raw, f.path(), func(f field) *api.Error {
		switch f.key {
		case "tokens":
			return f.whole(&into.Tokens, maxExact)
		case "usd_micros":
			return f.whole(&into.USDMicros, maxExact)
		case "wall_ms":
			return f.integer(&into.WallMillis)
		case "warn_percent":
			return f.whole32(&into.WarnPercent)
		}
		return f.unknown("tokens, usd_micros, wall_ms, warn_percent")
	})
}

func decodeGrants(f field, into *[]permissions.Grant) *api.Error {
	if f.raw.Len() > permissions.MaxGrants {
		return invalid(f.path(), "must have at most 256 grants", "")
	}
	return f.eachItem(func(_ int, raw value.Raw, path string) *api.Error {
		var g permissions.Grant
		e := eachField(raw, path, func(f field) *api.Error {
			switch f.key {
			case "effect":
				return decodeEffect(f, &g.Effect)
			case "action":
				return f.text(&g.Action)
			case "resource":
				return f.text(&g.Resource)
			case "not_after_ms":
				return f.integer(&g.NotAfterMillis)
			}
			return f.unknown("action, effect, not_after_ms, resource")
		})
		*into = append(*into, g)
		return e
	})
}

func decodeEffect(f field, into *permissions.Effect) *api.Error {
	var word string
	if e := f.text(&word); e != nil {
		return e
	}
	if into.UnmarshalText([]byte(word)) != nil {
		return invalid(f.path(), "must be ALLOW, DENY or ESCALATE", "")
	}
	return nil
}

func decodeStart(raw value.Raw, path string) (*event.Start, *api.Error) {
	s := new(event.Start)
	given := false
	e := eachField(raw, path, func(f field) *api.Error {
		switch f.key {
		case "agent":
			given = f.raw != nil
			if !given {
				return nil
			}
			d, e := decodeDefine(f.raw, f.path())
			s.Define = *d
			return e
		case "input":
			return f.any(&s.Input)
		case "reason":
			return f.text(&s.Reason)
		}
		return f.unknown("agent, input, reason")
	})
	if e == nil && !given {
		e = invalid(below(path, "agent"), "is required", "the definition of the agent: at least its program")
	}
	return s, e
}

// decodeTrigger, decodeKill and decodeSubmit take agent and trigger from the
// body in a batch, and from the address, which sets them first, elsewhere.
func decodeTrigger(raw value.Raw, path string, t *event.Trigger) *api.Error {
	addressed := t.Agent != ""
	return eachField(raw, path, func(f field) *api.Error {
		switch {
		case f.key == "agent" && !addressed:
			return f.text(&t.Agent)
		case f.key == "trigger" && !addressed:
			return f.text(&t.Trigger)
		case f.key == "reason":
			return f.text(&t.Reason)
		case f.key == "input":
			return f.any(&t.Input)
		case f.key == "force":
			return f.flag(&t.Force)
		case addressed:
			return f.unknown("force, input, reason")
		}
		return f.unknown("agent, force, input, reason, trigger")
	})
}

func decodeKill(raw value.Raw, path string, k *event.Kill) *api.Error {
	return decodeReasoned(raw, path, &k.Agent, &k.Reason)
}

// decodeReasoned reads a command that says which agent, and why.
func decodeReasoned(raw value.Raw, path string, agent, reason *string) *api.Error {
	addressed := *agent != ""
	return eachField(raw, path, func(f field) *api.Error {
		switch {
		case f.key == "agent" && !addressed:
			return f.text(agent)
		case f.key == "reason":
			return f.text(reason)
		case addressed:
			return f.unknown("reason")
		}
		return f.unknown("agent, reason")
	})
}

func decodeSubmit(raw value.Raw, path string, s *event.Submit) *api.Error {
	addressed := s.Agent != ""
	return eachField(raw, path, func(f field) *api.Error {
		switch {
		case f.key == "agent" && !addressed:
			return f.text(&s.Agent)
		case f.key == "program":
			return f.any(&s.Program)
		case f.key == "input":
			return f.any(&s.Input)
		case addressed:
			return f.unknown("input, program")
		}
		return f.unknown("agent, input, program")
	})
}
