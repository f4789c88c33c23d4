package kernel_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// EV-11: a number that does not fit its field is refused, not cut, and what is
// absent has one form.
func TestRecordBodiesAreStrict(t *testing.T) {
	evaluation := (&permissions.Evaluation{Action: "a", Resource: "r", Grants: 1}).AppendTo(nil)
	wide := bus.AppendInt(evaluation[:len(evaluation)-1], 1<<32)
	kind := append(bus.AppendUint(nil, 1<<16+uint64(event.Pulse)), 0, 0, 0, 0, 0)
	zeros := append([]byte{byte(event.Pulse), 0, 0, 1}, make([]byte, 20)...)
	for name, bad := range map[string]struct {
		kind bus.Kind
		raw  []byte
	}{
		"a grant of 33 bits": {bus.Allow, wide}, "a kind of 17 bits": {bus.Event, kind}, "a session of zeros": {bus.Event, zeros},
		"an agent of 33 bits": {bus.TimerSet, append([]byte{0, 1, 1}, append(bus.AppendUint(nil, 1<<32), 0, 0)...)},
		"a bool of 2":         {bus.StaleResult, []byte{1, 2}},
	} {
		_, ok := kernel.DecodeRecordBody(bad.kind, bad.raw)
		assert.False(t, ok, name)
	}
	_, ok := kernel.DecodeRecordBody(bus.Event, []byte{byte(event.Pulse), 0, 0, 0, 0, 0})
	require.True(t, ok)
}

// golden compares lines with a file, which UPDATE=1 writes.
func golden(t *testing.T, name string, lines []string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	text := strings.Join(lines, "\n") + "\n"
	if os.Getenv("UPDATE") == "1" {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), text)
}
