package human

import (
	"errors"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
)

// Kind is the kind `human`.
type Kind struct{}

var (
	_ tools.Kind      = Kind{}
	_ tools.Elsewhere = Kind{}
)

var errNobodyRuns = errors.New("no node runs what a person answers")

// Name is what manifests call it.
func (Kind) Name() string { return kerneltools.Human }

// Elsewhere says that no node makes the calls: they may take as long as people do.
func (Kind) Elsewhere() {}

// Check refuses what would mean nothing: a person is asked once, by what the tool's
// description and the arguments say.
func (Kind) Check(m *kerneltools.Manifest) *failure.Refusal {
	without := func(field string) *failure.Refusal {
		return &failure.Refusal{Code: failure.InvalidArgument, Field: field, Rule: "must not be there: a person answers the calls, and no node makes them"}
	}
	switch {
	case len(m.Config) > 0:
		return without("config")
	case m.Retry != kerneltools.Retry{}:
		return without("retry")
	case m.Idempotent:
		return without("idempotent")
	case m.Concurrency > 0:
		return without("concurrency")
	case len(m.Secrets) > 0:
		return without("secrets")
	}
	return nil
}

// Make makes nothing.
func (Kind) Make(*kerneltools.Manifest) (tools.Caller, error) { return nil, errNobodyRuns }
