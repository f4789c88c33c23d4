package worker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
)

// TO-9, TO-15: what is wrong with a manifest of the kind is refused by its field.
func TestManifestsOfWorkers(t *testing.T) {
	registry, err := tools.New(tools.Options{Kinds: []tools.Kind{Kind{}}})
	require.NoError(t, err)
	manifest := func(config string) *kerneltools.Manifest {
		m := &kerneltools.Manifest{Name: "a", Adapter: "worker"}
		if config != "" {
			m.Config = kerneltest.JSON(t, config)
		}
		return m
	}
	for config, lease := range map[string]time.Duration{"": 30 * time.Second, "{}": 30 * time.Second, `{"lease_ms":1000}`: time.Second} {
		require.Nil(t, registry.Check(manifest(config)), config)
		got, lent := registry.Lease(manifest(config))
		assert.True(t, lent)
		assert.Equal(t, lease, got)
	}
	for field, m := range map[string]*kerneltools.Manifest{
		"config.lease_ms": manifest(`{"lease_ms":999}`),
		"config.url":      manifest(`{"url":"http://h"}`),
		"retry":           {Name: "a", Adapter: "worker", Retry: kerneltools.Retry{MaxAttempts: 2}},
		"secrets":         {Name: "a", Adapter: "worker", Secrets: []string{"KEY"}},
	} {
		refused := registry.Check(m)
		require.NotNil(t, refused, field)
		assert.Equal(t, field, refused.Field)
	}
	for _, text := range []string{`{"lease_ms":600001}`, `{"lease_ms":"1s"}`, `{"lease_ms":1.5}`} {
		assert.NotNil(t, registry.Check(manifest(text)), text)
	}
	_, lent := registry.Lease(&kerneltools.Manifest{Adapter: "http"})
	assert.False(t, lent)
}

// TO-15: what a node has no broker for did not happen.
func TestNobodyMakesTheCall(t *testing.T) {
	registry, err := tools.New(tools.Options{Kinds: []tools.Kind{Kind{}}})
	require.NoError(t, err)
	got := registry.Run(t.Context(), tools.Request{Tool: "a", Revision: 1, Manifest: &kerneltools.Manifest{Name: "a", Adapter: "worker"}})
	assert.Equal(t, failure.ToolUnreachable, got.Code)
}
