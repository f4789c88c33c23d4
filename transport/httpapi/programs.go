package httpapi

import (
	"crypto/sha256"
	"sync"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// maxCompiled bounds what is remembered; when it is full it starts again.
const maxCompiled = 4096

// compiledCache remembers which programs compile, so that the door's check
// costs a digest when the same program comes again.
type compiledCache struct {
	lookup flows.Lookup
	mu     sync.Mutex // guards good
	good   map[programKey]struct{}
}

type programKey struct {
	evaluator string
	digest    [sha256.Size]byte
}

func newCompiledCache(lookup flows.Lookup) *compiledCache {
	return &compiledCache{lookup: lookup, good: make(map[programKey]struct{})}
}

// Lookup is a flows.Lookup. The evaluators that it finds are for checking only:
// for a program that is known to compile they give none.
func (c *compiledCache) Lookup(name string) (evaluator.Evaluator, bool) {
	inner, ok := c.lookup(name)
	if !ok {
		return nil, false
	}
	return checking{inner, c}, true
}

// checking is an evaluator that remembers what it has compiled.
type checking struct {
	evaluator.Evaluator
	cache *compiledCache
}

// Compile answers the refusal of a program; nil when it compiles.
func (c checking) Compile(program value.Raw) (evaluator.Program, *failure.Refusal) {
	key := programKey{c.Name(), sha256.Sum256(program)}
	if c.cache.knows(key) {
		return nil, nil
	}
	if _, refusal := c.Evaluator.Compile(program); refusal != nil {
		return nil, refusal
	}
	c.cache.note(key)
	return nil, nil
}

func (c *compiledCache) knows(key programKey) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.good[key]
	return ok
}

func (c *compiledCache) note(key programKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.good) >= maxCompiled {
		clear(c.good)
	}
	c.good[key] = struct{}{}
}
