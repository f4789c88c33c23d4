//go:build systemd

package systemd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// most is how exposed a unit may be, by systemd's own count: tenths of a scale that ends at
// 100.
var most = map[string]string{"omni.service": "20", "with programs.conf": "45"}

// analyze runs systemd-analyze.
func analyze(t *testing.T, args ...string) (output string, err error) {
	t.Helper()
	cmd := exec.Command("systemd-analyze", args...)
	cmd.Env = append(os.Environ(), "SYSTEMD_COLORS=0", "LC_ALL=C.UTF-8")
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// install puts the unit where it is judged, with a program that is there instead of
// the one that would be installed.
func install(t *testing.T, change func(string) string, dropIns ...string) (unit string) {
	t.Helper()
	dir := t.TempDir()
	text, err := os.ReadFile("omni.service")
	require.NoError(t, err)
	require.Contains(t, string(text), "ExecStart=/usr/local/bin/omni server ")
	program, err := exec.LookPath("true")
	require.NoError(t, err)
	unit = filepath.Join(dir, "omni.service")
	changed := change(strings.ReplaceAll(string(text), "/usr/local/bin/omni", program))
	require.NoError(t, os.WriteFile(unit, []byte(changed), 0o600))
	for _, name := range dropIns {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NoError(t, os.Mkdir(unit+".d", 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(unit+".d", name), text, 0o600))
	}
	return unit
}

func asItIs(text string) string { return text }

// systemd takes every line of the unit, alone and with what it may be extended by.
func TestUnitsAreTaken(t *testing.T) {
	for name, dropIns := range map[string][]string{"omni.service": nil, "with programs.conf": {"programs.conf"}} {
		unit := install(t, asItIs, dropIns...)
		output, err := analyze(t, "verify", "--man=no", "--recursive-errors=no", unit)
		require.NoError(t, err, "%s: %s", name, output)
		assert.NotContains(t, output, unit, name) // what is not taken is told with its place

		output, err = analyze(t, "security", "--offline=true", "--no-pager", "--threshold="+most[name], unit)
		assert.NoError(t, err, "%s: %s", name, output)
	}
}

// What systemd does not take is noticed.
func TestAnUnknownSettingIsNoticed(t *testing.T) {
	unit := install(t, func(text string) string {
		return strings.Replace(text, "ProtectHome=", "ProtectHouse=", 1)
	})
	output, _ := analyze(t, "verify", "--man=no", "--recursive-errors=no", unit)
	assert.Contains(t, output, "ProtectHouse")
	assert.Contains(t, output, unit)
}
