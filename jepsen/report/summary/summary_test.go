package summary_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/report"
	"github.com/omnikernel/omnikernel/jepsen/report/summary"
)

func judgement() *report.Judgement {
	j := report.Judged([]check.Verdict{
		{Checker: "harness", Word: check.Valid, Figures: map[string]int64{"operations": 40000, "faults": 16}, Millis: 12},
		{Checker: "register", Word: check.Invalid, Figures: map[string]int64{"keys": 9}, Millis: 1830, Files: []string{"k3.html"},
			Findings: []check.Finding{{Text: "k3: \x1b[2J not\nlinearizable", At: 38_999_000_000, Ops: []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}}},
		{Checker: "streams", Word: check.Unclear},
	})
	return &j
}

// One line says what a checker looked at; nothing that was said can steer a
// terminal.
func TestVerdicts(t *testing.T) {
	var out strings.Builder
	require.NoError(t, summary.Verdicts(&out, summary.Style{}, judgement()))
	require.Equal(t, strings.Join([]string{
		"valid    harness      12.0 ms  16 faults, 40,000 operations",
		"invalid  register      1.83 s  9 keys",
		"         k3: ␛[2J not linearizable, at 38.999 s, operations [1 2 3 4 5 6 7 8] and 2 more",
		"         see pictures/k3.html",
		"unclear  streams   under 1 ms  looked at nothing",
		"invalid  the run, by 3 checkers",
		"",
	}, "\n"), out.String())

	out.Reset()
	require.NoError(t, summary.Verdicts(&out, summary.Style{Colours: true}, judgement()))
	require.Contains(t, out.String(), "\x1b[31;1m✗ invalid\x1b[0m  register")
	require.Contains(t, out.String(), "\n           k3: ␛[2J")
}

func rows() []summary.Row {
	run := &report.Run{Name: "kills", Seed: 17, Took: 95 * time.Second}
	h := &history.History{Ops: make([]history.Op, 41_000), Faults: make([]history.Fault, 12)}
	h.Ops[3].Outcome, h.Ops[9].Outcome = history.Unknown, history.Unknown
	good := report.Judged([]check.Verdict{{Word: check.Valid}})
	return []summary.Row{
		summary.RowOf(run, &good, h, "runs/1"),
		summary.RowOf(&report.Run{Name: "partitions", Seed: 18446744073709551615, Took: time.Hour}, judgement(), h, "runs/2"),
		{Scenario: "disks", Seed: 3, Error: "it cannot be injected", Took: time.Second},
	}
}

func TestTable(t *testing.T) {
	var out strings.Builder
	require.NoError(t, summary.Table(&out, summary.Style{}, rows()))
	require.Equal(t, strings.Join([]string{
		"verdict  scenario                    seed  operations  unknown  faults  findings     took",
		"valid    kills                         17      41,000        2      12         0    1m35s",
		"invalid  partitions  18446744073709551615      41,000        2      12         1   1h0m0s",
		"         see runs/2",
		"unclear  disks                          3           0        0       0         0       1s",
		"         it cannot be injected",
		"invalid  3 runs                                82,000        4      24         1  1h1m36s",
		"",
	}, "\n"), out.String())

	out.Reset()
	require.NoError(t, summary.Table(&out, summary.Style{Colours: true}, rows()[:1]))
	wide := -1
	for line := range strings.Lines(out.String()) {
		for _, escape := range []string{"\x1b[32;1m", "\x1b[0m"} {
			line = strings.ReplaceAll(line, escape, "")
		}
		if wide >= 0 {
			require.Equal(t, wide, utf8.RuneCountInString(line), line)
		}
		wide = utf8.RuneCountInString(line)
	}
}

func TestEncode(t *testing.T) {
	var out strings.Builder
	require.NoError(t, summary.Encode(&out, rows()))
	var read struct {
		Runs  []summary.Row
		Total summary.Total
	}
	require.NoError(t, json.Unmarshal([]byte(out.String()), &read))
	require.Equal(t, rows(), read.Runs)
	require.Equal(t, summary.Total{Runs: 3, Valid: 1, Invalid: 1, Unclear: 1, Operations: 82_000, Unknown: 4, Faults: 24, Findings: 1, Took: time.Hour + 96*time.Second}, read.Total)
	none := summary.Add(nil)
	require.Equal(t, check.Unclear, none.Word(), "nothing shows nothing")
}

// What goes into a file has no colours.
func TestPlainInFiles(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	defer file.Close()
	require.False(t, summary.For(file).Colours)
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer null.Close()
	require.False(t, summary.For(null).Colours)
}
