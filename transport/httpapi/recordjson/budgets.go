package recordjson

import (
	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// ofBudget renders the bodies of budgets.
func (v *view) ofBudget(_ *logging.Record, body bus.Body) any {
	switch b := body.(type) {
	case *budgets.Opened:
		return set(limits(fields{}, &b.Limits), "above_id", v.agentID(b.Above))
	case *budgets.Changed:
		return set(limits(fields{}, &b.Limits), "reason", b.Reason)
	case *budgets.Reserved:
		f := fields{"call": b.Call, "account_id": v.agentID(b.Account), "deadline_ms": b.Deadline}
		return amounts(set(f, "started", b.Started), b.Cost)
	case *budgets.Waiting:
		return amounts(set(fields{
			"call": b.Call, "account_id": v.agentID(b.Account), "tool": b.Tool, "args": b.Args, "resource": b.Resource,
			"idempotent": b.Idempotent, "deadline_ms": b.Deadline, "timer": b.Timer,
		}, "revision", b.Revision), b.Cost)
	case *budgets.Blocked:
		return fields{"call": b.Call, "account_id": v.agentID(b.Account)}
	case *budgets.Settled:
		return amounts(fields{"call": b.Call, "how": b.How.String()}, b.Used)
	case *budgets.Outlived:
		return fields{"call": b.Call, "timer": b.Timer}
	case *budgets.Overrun:
		return amounts(fields{"call": b.Call}, b.Beyond)
	case *budgets.Mark:
		f := fields{"of": b.Kind.String(), "limit": b.Limit, "used": b.Used}
		return set(set(f, "reserved", b.Reserved), "wanted", b.Wanted)
	case *budgets.Clock:
		f := fields{"running": b.Running}
		return set(set(f, "deadline_ms", b.Deadline), "timer", b.Timer)
	}
	return nil
}

func limits(f fields, l *budgets.Limits) fields {
	set(set(set(f, "tokens", l.Tokens), "usd_micros", l.USDMicros), "wall_ms", l.WallMillis)
	f["warn_percent"] = l.WarnPercent
	return f
}

func amounts(f fields, a budgets.Amounts) fields {
	f["tokens"], f["usd_micros"] = a.Tokens, a.USDMicros
	return f
}

// usage adds what a call cost, when its tool said so.
func usage(f fields, u tools.Usage) fields {
	if u.Metered {
		f["usage"] = fields{"tokens": u.Tokens, "usd_micros": u.USDMicros}
	}
	return f
}
