package registry_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
)

// EX-9: evaluators are known by name and version.
func TestLookup(t *testing.T) {
	for _, name := range []string{"std/1", "script/1"} {
		e, found := registry.Lookup(name)
		if assert.True(t, found, name) {
			assert.Equal(t, name, e.Name())
		}
	}
	for _, name := range []string{"", "std", "std/2", "script/2", "STD/1"} {
		_, found := registry.Lookup(name)
		assert.False(t, found, name)
	}
}
