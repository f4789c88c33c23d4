package worker

import (
	"context"
	"time"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Bounds of a lease, in milliseconds.
const (
	DefaultLeaseMillis = 30_000
	minLeaseMillis     = 1_000
	maxLeaseMillis     = 600_000
)

// Kind is the kind `worker`. Its zero value can be used.
type Kind struct{}

var _ tools.Lender = Kind{}

// Name is what manifests call it.
func (Kind) Name() string { return "worker" }

// Check says what is wrong with a manifest of the kind:
//
//	config.lease_ms  1,000 to 600,000; 30,000 when absent
//	retry            absent: what may be made again is lent again, within its time
//	secrets          absent: a worker has its own
func (Kind) Check(m *kerneltools.Manifest) *failure.Refusal {
	if m.Retry != (kerneltools.Retry{}) {
		return wrong("retry", "must be absent: a worker tries by itself, and a call that may be made twice is lent again when a worker is lost")
	}
	if len(m.Secrets) > 0 {
		return wrong("secrets", "must be absent: nodes give their secrets to no worker")
	}
	_, refusal := leaseMillis(m)
	return refusal
}

// leaseMillis reads the config.
func leaseMillis(m *kerneltools.Manifest) (int64, *failure.Refusal) {
	millis := int64(DefaultLeaseMillis)
	if len(m.Config) == 0 {
		return millis, nil
	}
	rd := value.NewReader(m.Config)
	n, _ := rd.ReadMapHeader()
	for range n {
		key, _ := rd.ReadString()
		raw := rd.Skip()
		if key != "lease_ms" {
			return 0, &failure.Refusal{Code: failure.InvalidArgument, Field: value.JoinKey("config", value.JoinKey(key, "")), Rule: "unknown field", Hint: "known fields: lease_ms"}
		}
		var ok bool
		if millis, ok = raw.Int(); !ok || millis < minLeaseMillis || millis > maxLeaseMillis {
			return 0, wrong("config.lease_ms", "must be an integer from 1000 to 600000: milliseconds")
		}
	}
	return millis, nil
}

func wrong(field, rule string) *failure.Refusal {
	return &failure.Refusal{Code: failure.InvalidArgument, Field: field, Rule: rule}
}

// Lease is how long a worker keeps a call without a sign of life.
func (Kind) Lease(m *kerneltools.Manifest) time.Duration {
	millis, refusal := leaseMillis(m)
	if refusal != nil { // it was registered by a version with other bounds
		millis = DefaultLeaseMillis
	}
	return time.Duration(millis) * time.Millisecond
}

// Make makes what is never called.
func (Kind) Make(*kerneltools.Manifest) (tools.Caller, error) { return nobody{}, nil }

// nobody makes no calls.
type nobody struct{}

// Call says that it did not happen.
func (nobody) Call(context.Context, tools.Request) tools.Result {
	return tools.Fail(failure.ToolUnreachable, "calls of this tool are lent to workers, and this node lends none")
}
