package flows

import (
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// children is a request for children, as agent.delegate takes it:
//
//	{children: [child …], child?, fail_fast?, detach?, on_escalation?}
//
// What is the same for all children may stand once, in child; each entry of
// children adds to it or overrides it.
//
// with each child {program, name?, evaluator?, mode?, teardown?, input?, env?,
// labels?, grants?, max_depth?, ttl_ms?, budget?}. A child gets no depth unless it is
// given some, and its parent's expiry unless it is given less.
type children struct {
	common   child
	list     []child
	failFast bool
	detach   bool
	handler  bool // the parent's program decides escalations (PE-3)
}

type child struct {
	define event.Define
	input  value.Raw
}

// parseChildren refuses what is malformed, as TOOL_ARGS_INVALID. What is
// well-formed and not allowed is REJECTED, later.
func parseChildren(args value.Raw) (*children, *failure.Failure) {
	c := &children{}
	rule := eachMember(args, "", func(name string, raw value.Raw) string {
		switch name {
		case "child": // stands before children in canonical order
			return eachMember(raw, name, c.common.parse(name+"."))
		case "children":
			return c.parseList(raw)
		case "fail_fast":
			return readBool(raw, name, &c.failFast)
		case "detach":
			return readBool(raw, name, &c.detach)
		case "on_escalation":
			return readBool(raw, name, &c.handler)
		}
		return "unknown argument " + name
	})
	switch {
	case rule != "":
	case len(c.list) == 0:
		rule = "children must be a list of at least one"
	case c.detach && (c.failFast || c.handler):
		rule = "detach waits for nobody: neither fail_fast nor on_escalation goes with it"
	}
	if rule != "" {
		return nil, &failure.Failure{Code: failure.ToolArgsInvalid, Message: failure.Clip(rule)}
	}
	return c, nil
}

func (c *children) parseList(raw value.Raw) string {
	rd := value.NewReader(raw)
	n, ok := rd.ReadListHeader()
	if !ok {
		return "children must be a list"
	}
	for i := uint64(0); i < n; i++ {
		one := c.common
		at := "children[" + strconv.FormatUint(i, 10) + "]"
		if rule := eachMember(rd.Skip(), at, one.parse(at+".")); rule != "" {
			return rule
		}
		c.list = append(c.list, one)
	}
	return ""
}

// parse reads one member of a child.
func (c *child) parse(at string) func(name string, raw value.Raw) string {
	d := &c.define
	return func(name string, raw value.Raw) string {
		switch name {
		case "name":
			return readText(raw, at+name, &d.Name)
		case "evaluator":
			return readText(raw, at+name, &d.Evaluator)
		case "mode":
			return readText(raw, at+name, &d.Mode)
		case "program":
			d.Program = raw
		case "teardown":
			d.Teardown = raw
		case "input":
			c.input = raw
		case "env":
			return readTexts(raw, at+name, &d.Env)
		case "labels":
			return readTexts(raw, at+name, &d.Labels)
		case "grants":
			return readGrants(raw, at+name, &d.Grants)
		case "max_depth":
			depth, ok := raw.Int()
			if !ok || depth < 0 || depth > 1<<16 {
				return at + name + " must be a small integer"
			}
			d.MaxDepth = uint32(depth)
		case "ttl_ms":
			ttl, ok := raw.Int()
			if !ok || ttl < 0 {
				return at + name + " must be an integer of milliseconds"
			}
			d.TTLMillis = ttl
		case "budget":
			return readBudget(raw, at+name, &d.Budget)
		default:
			return "unknown field " + at + name
		}
		return ""
	}
}

func readBudget(raw value.Raw, at string, into **event.Budget) string {
	b := &event.Budget{}
	*into = b
	return eachMember(raw, at, func(name string, raw value.Raw) string {
		n, ok := raw.Int()
		if !ok || n < 0 {
			return at + "." + name + " must be an integer from 0"
		}
		switch name {
		case "tokens":
			b.Tokens = uint64(n)
		case "usd_micros":
			b.USDMicros = uint64(n)
		case "wall_ms":
			b.WallMillis = n
		case "warn_percent":
			b.WarnPercent = uint32(min(n, 1<<16))
		default:
			return "unknown field " + at + "." + name
		}
		return ""
	})
}

func readGrants(raw value.Raw, at string, into *[]permissions.Grant) string {
	*into = nil
	rd := value.NewReader(raw)
	n, ok := rd.ReadListHeader()
	if !ok || n > permissions.MaxGrants {
		return at + " must be a list of at most 256 grants"
	}
	var grants []permissions.Grant
	for i := uint64(0); i < n; i++ {
		var g permissions.Grant
		here := at + "[" + strconv.FormatUint(i, 10) + "]"
		rule := eachMember(rd.Skip(), here, func(name string, raw value.Raw) string {
			switch name {
			case "effect":
				var effect string
				if rule := readText(raw, here+"."+name, &effect); rule != "" {
					return rule
				}
				if g.Effect.UnmarshalText([]byte(effect)) != nil {
					return here + ".effect must be ALLOW, DENY or ESCALATE"
				}
			case "action":
				return readText(raw, here+"."+name, &g.Action)
			case "resource":
				return readText(raw, here+"."+name, &g.Resource)
			case "not_after_ms":
				if g.NotAfterMillis, ok = raw.Int(); !ok {
					return here + ".not_after_ms must be an integer"
				}
			default:
				return "unknown field " + here + "." + name
			}
			return ""
		})
		if rule != "" {
			return rule
		}
		grants = append(grants, g)
	}
	*into = grants
	return ""
}

// eachMember calls member for each member of a map, until one breaks a rule.
func eachMember(raw value.Raw, at string, member func(name string, raw value.Raw) string) string {
	rd := value.NewReader(raw)
	n, ok := rd.ReadMapHeader()
	if !ok {
		if at == "" {
			at = "the arguments"
		}
		return at + " must be a map"
	}
	for range n {
		name, _ := rd.ReadString()
		if rule := member(name, rd.Skip()); rule != "" {
			return rule
		}
	}
	return ""
}

func readText(raw value.Raw, at string, into *string) string {
	text, ok := raw.Text()
	if !ok {
		return at + " must be text"
	}
	*into = text
	return ""
}

func readBool(raw value.Raw, at string, into *bool) string {
	var ok bool
	if *into, ok = raw.Bool(); !ok {
		return at + " must be true or false"
	}
	return ""
}

func readTexts(raw value.Raw, at string, into *map[string]string) string {
	*into = make(map[string]string)
	return eachMember(raw, at, func(name string, raw value.Raw) string {
		var text string
		rule := readText(raw, at+"."+name, &text)
		(*into)[name] = text
		return rule
	})
}
