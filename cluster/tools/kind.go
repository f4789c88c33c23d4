package tools

import (
	"context"
	"time"

	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
)

// None is the kind of a tool that this node does not have.
const None = "none"

// KindOf names the kind of a tool's adapter, as metrics count it: of a registered tool
// by its manifest, else the tool that is built in. There are few such names, all of them
// fixed when the Registry is made.
func (r *Registry) KindOf(tool string, m *kerneltools.Manifest) string {
	if m == nil {
		if _, ok := r.tools[tool]; ok {
			return tool
		}
		return None
	}
	if _, ok := r.kinds[m.Adapter]; ok {
		return m.Adapter
	}
	return None
}

// Kind makes the adapters of registered tools whose manifests name it (TO-9).
// It is used on many goroutines at once.
type Kind interface {
	// Name is what manifests call it: "http".
	Name() string
	// Check says what is wrong with the part of a manifest that is the kind's, by a
	// field such as config.url; nil when nothing is. The rest of the manifest has
	// passed its own rules, and its schemas compile. It asks nobody and starts nothing.
	Check(m *kerneltools.Manifest) *failure.Refusal
	// Make makes the adapter of one revision. What it holds it gives back in Close,
	// if it is an io.Closer, after its last call.
	Make(m *kerneltools.Manifest) (Caller, error)
}

// Elsewhere is what a kind says of itself whose calls no node makes: then their time
// is not bounded by MaxTime.
type Elsewhere interface {
	Elsewhere()
}

// MaxTime is how long a call may take that a node makes, whatever the kernel allows:
// it holds a place there, and a connection or a process.
const MaxTime = time.Hour

// Caller runs calls, on many goroutines at once; it returns soon after ctx ends,
// and what it returns then is not looked at.
type Caller interface {
	Call(ctx context.Context, r Request) Result
}

// Lender is a Kind whose calls no node makes: they are lent to workers, who ask for
// them over the API (TO-15). Nothing that it makes is ever called.
type Lender interface {
	Kind
	// Lease is how long a worker keeps a call of the manifest's without a sign of life.
	Lease(m *kerneltools.Manifest) time.Duration
}

// Lease tells whether calls of the manifest are lent to workers, and for how long each
// time.
func (r *Registry) Lease(m *kerneltools.Manifest) (lease time.Duration, lent bool) {
	lender, lent := r.kinds[m.Adapter].(Lender)
	if !lent {
		return 0, false
	}
	return lender.Lease(m), true
}
