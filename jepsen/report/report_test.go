package report_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/report"
	"github.com/omnikernel/omnikernel/transport/api"
)

// counting is a checker that finds every operation whose answer it does not know,
// and draws a picture if there is one.
type counting struct{ most int64 }

func (counting) Name() string { return "counting" }

func (c counting) Check(_ context.Context, e *check.Evidence) check.Verdict {
	v := check.Verdict{
		Checker: "counting", Word: check.Valid, Millis: time.Now().UnixNano() % 1000,
		Figures: map[string]int64{"operations": int64(len(e.Ops)), "records": int64(len(e.Log)), "ends": int64(len(e.Ends)), "nodes": int64(len(e.Nodes))},
	}
	for i := range e.Ops {
		if op := &e.Ops[i]; op.Outcome == history.Unknown && int64(op.ID) > c.most {
			v.Word = check.Invalid
			v.Findings = append(v.Findings, check.Finding{Text: "unknown: " + op.Key, Ops: []uint64{op.ID}, At: op.Called})
		}
	}
	if len(v.Findings) > 0 {
		if err := os.WriteFile(filepath.Join(e.Dir, "counting.html"), []byte("a picture"), 0o644); err != nil {
			v.Word = check.Unclear
		}
		v.Files = []string{"counting.html"}
	}
	return v
}

func records(n int) iter.Seq2[api.Record, error] {
	return func(yield func(api.Record, error) bool) {
		for i := range n {
			if !yield(api.Record{BusSeq: uint64(i + 1), Index: 7, Kind: "TICK_STARTED", Body: json.RawMessage(`{"a":"<b>"}`)}, nil) {
				return
			}
		}
	}
}

func theRun() report.Run {
	return report.Run{
		Name: "kills", Scenario: json.RawMessage(`{"name":"kills","about":"Kill whoever leads."}`), Seed: 18446744073709551615,
		Nodes: []string{"n1", "n2", "n3"}, Store: "bolt", Flags: []string{"--log-level", "debug"}, Versions: report.Here(), Again: "bin/jepsen run kills --seed 17",
	}
}

// finished makes a whole folder, the way an experiment does.
func finished(t *testing.T) (dir string, verdicts []check.Verdict) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	f, err := report.Create(dir, theRun())
	require.NoError(t, err)
	r := history.NewRecorder(f.History())
	r.Phase(history.Calm)
	for n := range 30 {
		call := r.Call(n, "register", "write", "k", map[string]int{"value": n})
		if n%10 == 9 {
			call.Unknown("TIMEOUT", "no answer")
			continue
		}
		call.Ok(nil)
	}
	fault := r.Inject("kill", []string{"n1"}, map[string]any{"signal": "KILL"})
	r.Injected(fault, nil)
	r.Healed(fault, nil)
	require.NoError(t, r.Close())
	nodes, err := f.Nodes("n1")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(nodes, "1.log"), []byte("it runs\n"), 0o644))
	require.NoError(t, f.Log(records(50)))

	file, err := os.Open(filepath.Join(dir, "history.jsonl"))
	require.NoError(t, err)
	defer file.Close()
	h, err := history.Load(file)
	require.NoError(t, err)
	e := &check.Evidence{History: h, Nodes: []string{"n1", "n2", "n3"}, Ends: []check.End{{Node: "n1", Applied: 7, BusSeq: 50, Digest: "ab", Log: "cd"}}, Dir: f.Pictures()}
	for record := range records(50) {
		e.Log = append(e.Log, record)
	}
	verdicts = []check.Verdict{counting{}.Check(t.Context(), e)}
	require.NoError(t, f.Finish(e, verdicts))
	return dir, verdicts
}

// What is read again is what was there, and is judged as it was.
func TestJudgedAgain(t *testing.T) {
	dir, verdicts := finished(t)
	before := sumOfAll(t, dir)
	r, err := report.Load(dir)
	require.NoError(t, err)
	require.True(t, r.Whole)
	require.Equal(t, verdicts, r.Judgement.Checkers)
	require.Equal(t, check.Invalid, r.Judgement.Word)
	require.Len(t, r.Evidence.Ops, 30)
	require.Len(t, r.Evidence.Log, 50)
	require.JSONEq(t, `{"a":"<b>"}`, string(r.Evidence.Log[49].Body))
	require.Equal(t, uint64(18446744073709551615), r.Run.Seed)
	require.Equal(t, report.Here(), r.Run.Versions)
	require.Positive(t, r.Run.Took)

	again, err := report.Again(t.Context(), dir, []check.Checker{counting{}})
	require.NoError(t, err)
	require.Empty(t, again.Differ)
	require.Equal(t, check.Invalid, again.Now.Word)
	require.FileExists(t, filepath.Join(dir, "again", "counting.html"))
	again, err = report.Again(t.Context(), dir, []check.Checker{counting{most: 20}})
	require.NoError(t, err)
	require.Equal(t, []string{"counting: it finds something else"}, again.Differ)
	again, err = report.Again(t.Context(), dir, []check.Checker{counting{most: 1000}})
	require.NoError(t, err)
	require.Equal(t, []string{"the run was invalid and is valid", "counting: invalid then, valid now"}, again.Differ)
	require.NoDirExists(t, filepath.Join(dir, "again"))
	require.Equal(t, before, sumOfAll(t, dir), "nothing of the run changes")

	ended, end := context.WithCancel(t.Context())
	end()
	_, err = report.Again(ended, dir, []check.Checker{counting{}})
	require.ErrorIs(t, err, context.Canceled)
}

func sumOfAll(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	}))
	return all
}

// The page, the EDN and the outputs are where a person looks for them.
func TestFolder(t *testing.T) {
	dir, _ := finished(t)
	text, err := os.ReadFile(report.Page(dir))
	require.NoError(t, err)
	for _, said := range []string{"Kill whoever leads.", "18446744073709551615", `href="./nodes/n1/1.log"`, `href="./pictures/counting.html"`, "bin/jepsen run kills --seed 17", "n1 in the end"} {
		require.Contains(t, string(text), said)
	}
	text, err = os.ReadFile(filepath.Join(dir, "history.edn"))
	require.NoError(t, err)
	require.Equal(t, 60+4+2, strings.Count(string(text), "\n"))
	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	require.NoError(t, err)
	for _, name := range []string{"run.json", "history.jsonl", "history.edn", "log.jsonl.gz", "ends.json", "verdict.json", "nodes/n1/1.log", "pictures/counting.html"} {
		require.Contains(t, string(sums), "  "+name+"\n")
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	require.Empty(t, left)

	_, err = report.Create(dir, theRun())
	require.ErrorContains(t, err, "there is something in it already")
	f, err := report.Create(filepath.Join(t.TempDir(), "other"), theRun())
	require.NoError(t, err)
	for _, name := range []string{"", ".", "..", "a/b", "../n1", "/n1"} {
		_, err = f.Nodes(name)
		require.ErrorContains(t, err, "no name of a node", name)
	}
}

// What is damaged or missing is named, and nothing is judged.
func TestDamagedFolder(t *testing.T) {
	for _, name := range []string{"run.json", "history.jsonl", "history.edn", "log.jsonl.gz", "ends.json", "verdict.json", "nodes/n1/1.log", "pictures/counting.html"} {
		t.Run(strings.ReplaceAll(name, "/", " "), func(t *testing.T) {
			dir, _ := finished(t)
			path := filepath.Join(dir, filepath.FromSlash(name))
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			text[len(text)/2] ^= 1
			require.NoError(t, os.WriteFile(path, text, 0o644))
			_, err = report.Load(dir)
			require.ErrorContains(t, err, path)
			require.NoError(t, os.Remove(path))
			_, err = report.Again(t.Context(), dir, []check.Checker{counting{}})
			require.ErrorContains(t, err, path)
			require.ErrorIs(t, err, fs.ErrNotExist)
		})
	}
}

// A run that was interrupted has a history, and that can be judged; what else it
// left must be whole.
func TestInterrupted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	f, err := report.Create(dir, theRun())
	require.NoError(t, err)
	r := history.NewRecorder(f.History())
	r.Phase(history.Calm)
	r.Call(1, "register", "write", "k", 5).Ok(nil)
	require.NoError(t, r.Flush())
	_, err = f.History().WriteString(`{"op":{"id":2,`)
	require.NoError(t, err)

	again, err := report.Again(t.Context(), dir, []check.Checker{counting{}})
	require.NoError(t, err)
	require.False(t, again.Whole)
	require.Nil(t, again.Before)
	require.Empty(t, again.Differ)
	require.EqualValues(t, 1, again.Now.Checkers[0].Figures["operations"])
	require.EqualValues(t, 0, again.Now.Checkers[0].Figures["records"])

	require.ErrorIs(t, f.Finish(&check.Evidence{History: new(history.History)}, nil), fs.ErrNotExist, "the log was never written")
	failed := errors.New("the node has gone")
	require.ErrorIs(t, f.Log(func(yield func(api.Record, error) bool) { yield(api.Record{}, failed) }), failed)
	require.NoFileExists(t, filepath.Join(dir, "log.jsonl.gz"))

	for name, text := range map[string]string{"ends.json": `[{"node":"n1","odd":1}]`, "verdict.json": "{} {}", "log.jsonl.gz": packed(t, "{\"bus_seq\":1}\n{\"bus_seq\":x}")} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		_, err = report.Load(dir)
		require.ErrorContains(t, err, path)
		require.ErrorContains(t, err, "at byte")
		require.NoError(t, os.Remove(path))
	}
}

func packed(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	w := gzip.NewWriter(&out)
	_, err := w.Write([]byte(text))
	require.NoError(t, errors.Join(err, w.Close()))
	return out.String()
}

// A folder of a later program is refused as such, whatever else it says.
func TestFormats(t *testing.T) {
	dir := t.TempDir()
	_, err := report.Load(dir)
	require.ErrorIs(t, err, fs.ErrNotExist)
	for format, said := range map[string]string{`{"format":2,"new":"field"}`: "read it with a newer one", `{"format":0}`: "format 0", `{}`: "format 0", `{`: "run.json"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "run.json"), []byte(format), 0o644))
		_, err := report.Load(dir)
		require.ErrorContains(t, err, said)
	}
}

// A run is good only when everybody who looked says so, and somebody did.
func TestJudged(t *testing.T) {
	for _, c := range []struct {
		words []check.Word
		is    check.Word
	}{
		{nil, check.Unclear},
		{[]check.Word{check.Valid, check.Valid}, check.Valid},
		{[]check.Word{check.Valid, check.Unclear}, check.Unclear},
		{[]check.Word{check.Invalid, check.Unclear, check.Valid}, check.Invalid},
		{[]check.Word{check.Valid, "odd"}, check.Unclear},
	} {
		var verdicts []check.Verdict
		for _, word := range c.words {
			verdicts = append(verdicts, check.Verdict{Word: word})
		}
		require.Equal(t, c.is, report.Judged(verdicts).Word, c.words)
	}
}
