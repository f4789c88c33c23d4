package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/report/edn"
	"github.com/omnikernel/omnikernel/jepsen/report/page"
)

// The names in a folder.
const (
	runFile     = "run.json"
	historyFile = "history.jsonl"
	ednFile     = "history.edn"
	logFile     = "log.jsonl.gz"
	endsFile    = "ends.json"
	verdictFile = "verdict.json"
	nodesDir    = "nodes"
	picturesDir = "pictures"
	pageFile    = "index.html"
)

// Folder is a run's folder while the run goes on. One goroutine uses it, but the
// history may be written by another.
type Folder struct {
	Dir string

	run     Run
	history *os.File
}

// Create begins a folder: a directory that is not there yet, or is empty.
func Create(dir string, run Run) (*Folder, error) {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("%s: there is something in it already; name another directory for the report", dir)
	}
	if run.Began.IsZero() {
		run.Began = time.Now()
	}
	run.Format, run.Took = Format, 0
	f := &Folder{Dir: dir, run: run}
	for _, sub := range []string{picturesDir, nodesDir} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, err
		}
	}
	if err := f.writeJSON(runFile, run); err != nil {
		return nil, err
	}
	history, err := os.OpenFile(f.path(historyFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	f.history = history
	return f, nil
}

func (f *Folder) path(name string) string { return filepath.Join(f.Dir, name) }

// History is where the recorder writes. Finish closes it.
func (f *Folder) History() *os.File { return f.history }

// Pictures is the directory for what checkers draw: the Dir of their evidence.
func (f *Folder) Pictures() string { return f.path(picturesDir) }

// Nodes is the directory for the output of a node's processes. It is there when
// this returns.
func (f *Folder) Nodes(node string) (string, error) {
	if !filepath.IsLocal(node) || filepath.Base(node) != node || node == "." {
		return "", fmt.Errorf("%q is no name of a node that a directory can have", node)
	}
	dir := filepath.Join(f.Dir, nodesDir, node)
	return dir, os.MkdirAll(dir, 0o755)
}

// Finish writes what is left when everything has been judged. The evidence is
// what the verdicts are about, but for its log, which Log has written.
func (f *Folder) Finish(e *check.Evidence, verdicts []check.Verdict) error {
	f.run.Took = time.Since(f.run.Began)
	judgement := Judged(verdicts)
	_, missing := os.Stat(f.path(logFile))
	err := errors.Join(
		f.close(),
		missing,
		f.writeJSON(endsFile, e.Ends),
		f.writeJSON(verdictFile, judgement),
		f.writeJSON(runFile, f.run),
		write(f.path(ednFile), func(w *os.File) error { return edn.Write(w, e.History) }),
	)
	if err != nil {
		return err
	}
	if err = f.draw(e, &judgement); err != nil {
		return err
	}
	return writeSums(f.Dir)
}

func (f *Folder) close() error {
	if err := f.history.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
		return err
	}
	return nil
}

func (f *Folder) draw(e *check.Evidence, j *Judgement) error {
	files, err := outputs(f.Dir)
	if err != nil {
		return err
	}
	return write(f.path(pageFile), func(w *os.File) error {
		return page.Render(w, pageOf(&f.run, j, e, files))
	})
}
