package httpapi

import (
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

func decodeManifest(raw value.Raw, path string, m *tools.Manifest) *api.Error {
	return eachField(raw, path, func(f field) *api.Error {
		switch f.key {
		case "name":
			return f.text(&m.Name)
		case "version":
			return f.text(&m.Version)
		case "description":
			return f.text(&m.Description)
		case "adapter":
			return f.text(&m.Adapter)
		case "config":
			return f.any(&m.Config)
		case "input":
			return f.any(&m.Input)
		case "output":
			return f.any(&m.Output)
		case "timeout_ms":
			return f.integer(&m.TimeoutMillis)
		case "retry":
			return decodeRetry(f, &m.Retry)
		case "idempotent":
			return f.flag(&m.Idempotent)
		case "concurrency":
			return f.whole32(&m.Concurrency)
		case "cost":
			return decodeCost(f, &m.Cost)
		case "secrets":
			return decodeNames(f, &m.Secrets)
		case "resource":
			return decodeNames(f, &m.Segments)
		}
		return f.unknown("adapter, concurrency, config, cost, description, idempotent, input, name, output, resource, retry, secrets, timeout_ms, version")
	})
}

func decodeRetry(f field, into *tools.Retry) *api.Error {
	if f.raw == nil {
		return nil
	}
	return eachField(f.raw, f.path(), func(f field) *api.Error {
		switch f.key {
		case "max_attempts":
			return f.whole32(&into.MaxAttempts)
		case "backoff_ms":
			return f.integer(&into.BackoffMillis)
		case "max_backoff_ms":
			return f.integer(&into.MaxBackoffMillis)
		}
		return f.unknown("backoff_ms, max_attempts, max_backoff_ms")
	})
}

func decodeCost(f field, into *tools.Cost) *api.Error {
	if f.raw == nil {
		return nil
	}
	return eachField(f.raw, f.path(), func(f field) *api.Error {
		switch f.key {
		case "tokens":
			return f.whole(&into.Tokens, maxExact)
		case "usd_micros":
			return f.whole(&into.USDMicros, maxExact)
		}
		return f.unknown("tokens, usd_micros")
	})
}

// maxNames bounds a list of names before the kernel does.
const maxNames = 64

func decodeNames(f field, into *[]string) *api.Error {
	if f.raw.Len() > maxNames {
		return invalid(f.path(), "must have at most 64 names", "")
	}
	return f.eachItem(func(_ int, raw value.Raw, path string) *api.Error {
		name, ok := raw.Text()
		if !ok {
			return invalid(path, "must be a name", "")
		}
		*into = append(*into, name)
		return nil
	})
}

// decodeDeregister takes the tool from the address, which sets it first.
func decodeDeregister(raw value.Raw, path string, c *event.DeregisterTool) *api.Error {
	addressed := c.Name != ""
	return eachField(raw, path, func(f field) *api.Error {
		switch {
		case f.key == "name" && !addressed:
			return f.text(&c.Name)
		case f.key == "reason":
			return f.text(&c.Reason)
		case addressed:
			return f.unknown("reason")
		}
		return f.unknown("name, reason")
	})
}
