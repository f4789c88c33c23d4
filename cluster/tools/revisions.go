package tools

import (
	"io"
	"sync"
	"sync/atomic"

	"github.com/sony/gobreaker/v2"

	"github.com/omnikernel/omnikernel/cluster/tools/schema"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
)

// revisions holds the adapters of registered tools, one for each revision that a
// call was run with. They are made when they are first needed, and closed when the
// kernel needs the revision no more and no call runs.
type revisions struct {
	mu   sync.Mutex
	made map[uint64]*revision
}

// revision is one made adapter, with what was made of its manifest.
type revision struct {
	once  sync.Once
	tool  *tool
	err   error // why this node cannot run it
	calls int   // under way; the registry's lock guards it
	over  bool  // nobody needs it but them

	seen atomic.Pointer[tool] // tool, for who does not need it
}

// take finds or makes the revision's adapter, for one call; give ends it.
func (r *Registry) take(no uint64, m *kerneltools.Manifest) *revision {
	r.revisions.mu.Lock()
	one := r.revisions.made[no]
	if one == nil {
		one = new(revision)
		r.revisions.made[no] = one
	}
	one.calls++
	one.over = false
	r.revisions.mu.Unlock()
	one.once.Do(func() {
		one.err = errNoKind // should making it panic
		one.tool, one.err = r.make(m)
		one.seen.Store(one.tool)
	})
	return one
}

func (r *Registry) give(no uint64, one *revision) {
	r.revisions.mu.Lock()
	one.calls--
	last := one.over && one.calls == 0
	if last {
		delete(r.revisions.made, no)
	}
	r.revisions.mu.Unlock()
	if last {
		one.close()
	}
}

// Keep lets go of the adapters of every revision that is not needed any more. Those
// with which calls run go with the last of them.
func (r *Registry) Keep(needed func(revision uint64) bool) {
	var idle []*revision
	r.revisions.mu.Lock()
	//lint:ordered each is looked at by itself
	for no, one := range r.revisions.made {
		if needed(no) {
			continue
		}
		one.over = true
		if one.calls == 0 {
			delete(r.revisions.made, no)
			idle = append(idle, one)
		}
	}
	r.revisions.mu.Unlock()
	for _, one := range idle {
		one.close()
	}
}

// Made is how many adapters of registered tools there are.
func (r *Registry) Made() int {
	r.revisions.mu.Lock()
	defer r.revisions.mu.Unlock()
	return len(r.revisions.made)
}

// Broken counts the adapters of which the circuit breaker is open.
func (r *Registry) Broken() (n int) {
	r.revisions.mu.Lock()
	defer r.revisions.mu.Unlock()
	//lint:ordered they are counted
	for _, one := range r.revisions.made {
		if t := one.seen.Load(); t != nil && t.breaker.State() == gobreaker.StateOpen {
			n++
		}
	}
	return n
}

func (one *revision) close() {
	if one.tool == nil {
		return
	}
	if c, ok := one.tool.adapter.(io.Closer); ok {
		_ = c.Close() // there is nobody to tell, and nothing to be done
	}
}

// make makes the adapter of a manifest, and compiles its schemas, once.
func (r *Registry) make(m *kerneltools.Manifest) (*tool, error) {
	kind, ok := r.kinds[m.Adapter]
	if !ok {
		return nil, errNoKind
	}
	adapter, err := kind.Make(m)
	if err != nil {
		return nil, err
	}
	t := &tool{adapter: adapter, manifest: manifestOf(m, r.maxResult), retry: retryOf(m), breaker: newBreaker(m.Name), maxResult: r.maxResult}
	if t.args, err = schema.Compile(t.manifest.Args); err != nil {
		return nil, err
	}
	if t.result, err = schema.Compile(t.manifest.Result); err != nil {
		return nil, err
	}
	return t, nil
}

// manifestOf is a registered manifest as adapters that are built in have theirs.
func manifestOf(m *kerneltools.Manifest, maxResult int) Manifest {
	return Manifest{
		Name: m.Name, Description: m.Description, Args: schema.Text(m.Input), Result: schema.Text(m.Output),
		MaxResultBytes: maxResult, DefaultTimeout: defaultTimeout,
	}
}
