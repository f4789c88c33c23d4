package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/history"
)

// Report is a folder that was read.
type Report struct {
	Run       Run
	Evidence  check.Evidence
	Judgement *Judgement // nil when the run was interrupted before it was judged
	Whole     bool       // it was finished, and every file is what was written
}

// Load reads a folder. Of one that was not finished it takes what is there, but
// never less than run.json and the history; everything that is missing or damaged
// in one that was finished is named.
func Load(dir string) (*Report, error) {
	run, err := readJSON[formatted](dir, runFile)
	if err != nil {
		return nil, fmt.Errorf("no report can be read: %w", err)
	}
	if run.Format < 1 || run.Format > Format {
		return nil, fmt.Errorf("%s: it has format %d, and this program knows 1 to %d; read it with a newer one",
			filepath.Join(dir, runFile), run.Format, Format)
	}
	whole, err := verify(dir)
	if err != nil {
		return nil, fmt.Errorf("the report is damaged: %w", err)
	}
	r := &Report{Whole: whole}
	r.Evidence.Dir = filepath.Join(dir, picturesDir)
	if err = r.read(dir); err != nil {
		return nil, fmt.Errorf("the report is damaged: %w", err)
	}
	r.Evidence.Nodes = r.Run.Nodes
	return r, nil
}

// formatted is run.json as far as any version of it is known: the other fields
// may be anything.
type formatted struct{ Format int }

// UnmarshalJSON takes the format and leaves everything else.
func (f *formatted) UnmarshalJSON(text []byte) error {
	var known struct {
		Format int `json:"format"`
	}
	err := json.Unmarshal(text, &known)
	f.Format = known.Format
	return err
}

func (r *Report) read(dir string) error {
	var all [5]error
	r.Run, all[0] = readJSON[Run](dir, runFile)
	r.Evidence.History, all[1] = open(dir, historyFile, history.Load)
	r.Evidence.Log, all[2] = open(dir, logFile, readLog)
	r.Evidence.Ends, all[3] = readJSON[[]check.End](dir, endsFile)
	judgement, err := readJSON[Judgement](dir, verdictFile)
	if all[4] = err; err == nil {
		r.Judgement = &judgement
	}
	if r.Whole {
		return errors.Join(all[:]...)
	}
	for i, err := range all[2:] {
		if errors.Is(err, fs.ErrNotExist) {
			all[2+i] = nil
		}
	}
	return errors.Join(all[:]...)
}

// open reads a file with the errors named by it.
func open[T any](dir, name string, read func(io.Reader) (T, error)) (T, error) {
	var none T
	file, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return none, err
	}
	defer file.Close()
	into, err := read(file)
	if err != nil {
		return none, fmt.Errorf("%s: %w", file.Name(), err)
	}
	return into, nil
}
