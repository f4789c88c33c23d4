package httpapi

import (
	"math"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// The decoders of what operators do to agents, tokens, grants and requests. As
// with the others, the address sets what it says before they are called.

func decodeSend(raw value.Raw, path string, c *event.Send) *api.Error {
	addressed := c.Agent != ""
	return eachField(raw, path, func(f field) *api.Error {
		switch {
		case f.key == "agent" && !addressed:
			return f.text(&c.Agent)
		case f.key == "message":
			return f.any(&c.Message)
		case addressed:
			return f.unknown("message")
		}
		return f.unknown("agent, message")
	})
}

func decodeReclassify(raw value.Raw, path string, c *event.Reclassify) *api.Error {
	return decodeReasoned(raw, path, &c.Agent, &c.Reason)
}

func decodeRevokeToken(raw value.Raw, path string, c *event.RevokeToken) *api.Error {
	return decodeReasoned(raw, path, &c.Agent, &c.Reason)
}

func decodeArchive(raw value.Raw, path string, c *event.ArchiveLog) *api.Error {
	return eachField(raw, path, func(f field) *api.Error {
		if f.key == "before" {
			return f.whole(&c.Before, mostSeq)
		}
		return f.unknown("before")
	})
}

func decodeSuspend(raw value.Raw, path string, c *event.SuspendKernel) *api.Error {
	return decodeWhy(raw, path, &c.Reason)
}

func decodeResume(raw value.Raw, path string, c *event.ResumeKernel) *api.Error {
	return decodeWhy(raw, path, &c.Reason)
}

func decodeWhy(raw value.Raw, path string, reason *string) *api.Error {
	return eachField(raw, path, func(f field) *api.Error {
		if f.key == "reason" {
			return f.text(reason)
		}
		return f.unknown("reason")
	})
}

func decodeRevokeGrant(raw value.Raw, path string, c *event.RevokeGrant) *api.Error {
	addressed, given := c.Agent != "", false
	e := eachField(raw, path, func(f field) *api.Error {
		switch {
		case f.key == "agent" && !addressed:
			return f.text(&c.Agent)
		case f.key == "grant" && !addressed:
			given = f.raw != nil
			return f.whole32(&c.Grant)
		case f.key == "reason":
			return f.text(&c.Reason)
		case addressed:
			return f.unknown("reason")
		}
		return f.unknown("agent, grant, reason")
	})
	if e == nil && !addressed && !given {
		e = required(path, "grant", "the position of a grant, from 0")
	}
	return e
}

// decodeSetBudget leaves a limit that is not there as it is.
func decodeSetBudget(raw value.Raw, path string, c *event.SetBudget) *api.Error {
	addressed := c.Agent != ""
	return eachField(raw, path, func(f field) *api.Error {
		switch {
		case f.key == "agent" && !addressed:
			return f.text(&c.Agent)
		case f.key == "tokens":
			c.Tokens = new(uint64)
			return f.whole(c.Tokens, maxExact)
		case f.key == "usd_micros":
			c.USDMicros = new(uint64)
			return f.whole(c.USDMicros, maxExact)
		case f.key == "wall_ms":
			c.WallMillis = new(int64)
			return f.integer(c.WallMillis)
		case f.key == "warn_percent":
			c.WarnPercent = new(uint32)
			return f.whole32(c.WarnPercent)
		case f.key == "reason":
			return f.text(&c.Reason)
		case addressed:
			return f.unknown("reason, tokens, usd_micros, wall_ms, warn_percent")
		}
		return f.unknown("agent, reason, tokens, usd_micros, wall_ms, warn_percent")
	})
}

// decodeDecide takes no decision that was not made: approve must be there.
func decodeDecide(raw value.Raw, path string, c *event.Decide) *api.Error {
	addressed, decided := c.Escalation != 0, false
	e := eachField(raw, path, func(f field) *api.Error {
		switch {
		case f.key == "escalation" && !addressed:
			return f.whole(&c.Escalation, maxExact)
		case f.key == "approve":
			decided = f.raw != nil
			return f.flag(&c.Approve)
		case f.key == "reason":
			return f.text(&c.Reason)
		case addressed:
			return f.unknown("approve, reason")
		}
		return f.unknown("approve, escalation, reason")
	})
	if e == nil && !decided {
		e = required(path, "approve", "true or false")
	}
	return e
}

func required(path, name, hint string) *api.Error {
	return invalid(below(path, name), "is required", hint)
}

func decodePutShared(raw value.Raw, path string, c *event.PutShared) *api.Error {
	addressed := c.Namespace != ""
	return eachField(raw, path, func(f field) *api.Error {
		switch {
		case f.key == "namespace" && !addressed:
			return f.text(&c.Namespace)
		case f.key == "key":
			return f.text(&c.Key)
		case f.key == "value":
			return f.any(&c.Value)
		case f.key == "version":
			return f.version(&c.Version)
		case addressed:
			return f.unknown("key, value, version")
		}
		return f.unknown("key, namespace, value, version")
	})
}

func decodeDeleteShared(raw value.Raw, path string, c *event.DeleteShared) *api.Error {
	addressed := c.Namespace != ""
	return eachField(raw, path, func(f field) *api.Error {
		switch {
		case f.key == "namespace" && !addressed:
			return f.text(&c.Namespace)
		case f.key == "key":
			return f.text(&c.Key)
		case f.key == "version":
			return f.version(&c.Version)
		case addressed:
			return f.unknown("key, version")
		}
		return f.unknown("key, namespace, version")
	})
}

// inAddress reads a number that stands in a request's address.
func inAddress(name, text string, least, most uint64) (uint64, *api.Error) {
	p := &params{values: map[string][]string{name: {text}}}
	n := p.number(name, least, most)
	return n, p.broken
}

// mostSeq bounds what stands for a busSeq.
const mostSeq = math.MaxInt64
