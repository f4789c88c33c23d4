package report

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/omnikernel/omnikernel/transport/api"
)

// write makes a file whole or not at all: what fill wrote takes the name only
// when it is on disk.
func write(path string, fill func(*os.File) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	err = errors.Join(fill(file), file.Chmod(0o644), file.Sync())
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.Rename(file.Name(), path)
}

func (f *Folder) writeJSON(name string, body any) error {
	return write(f.path(name), func(w *os.File) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(body)
	})
}

// Log writes the execution log as one node held it in the end, in order, one
// record a line. An error of the sequence ends it. Where no node could be asked any
// more, the log is empty, and the Ends say why.
func (f *Folder) Log(records iter.Seq2[api.Record, error]) error {
	return write(f.path(logFile), func(w *os.File) error {
		packed := gzip.NewWriter(w)
		lines := json.NewEncoder(packed)
		lines.SetEscapeHTML(false)
		for record, err := range records {
			if err != nil {
				return err
			}
			if err = lines.Encode(record); err != nil {
				return err
			}
		}
		return packed.Close()
	})
}

// What is taken into memory of a log.
const (
	maxRecords = 20_000_000
	maxRecord  = 16 << 20 // bytes of one of them
)

func readLog(in io.Reader) ([]api.Record, error) {
	unpacked, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(unpacked)
	lines.Buffer(make([]byte, 0, 64<<10), maxRecord)
	records := []api.Record{}
	for lines.Scan() {
		if len(records) == maxRecords {
			return nil, fmt.Errorf("there are more than %d records", maxRecords)
		}
		record, err := decode[api.Record](lines.Bytes())
		if err != nil {
			return nil, fmt.Errorf("record %d: %w", len(records)+1, err)
		}
		records = append(records, record)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("after record %d: %w", len(records), err)
	}
	return records, nil
}

// decode takes one JSON value, which is all there is, and knows all its fields.
func decode[T any](text []byte) (T, error) {
	var into T
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&into); err != nil {
		return into, fmt.Errorf("at byte %d: %w", d.InputOffset(), err)
	}
	if rest := bytes.TrimSpace(text[d.InputOffset():]); len(rest) > 0 {
		return into, fmt.Errorf("at byte %d: there is something after the end", d.InputOffset())
	}
	return into, nil
}

// maxJSON bounds the small files.
const maxJSON = 64 << 20

func readJSON[T any](dir, name string) (T, error) {
	var into T
	file, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return into, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxJSON+1))
	switch {
	case err != nil:
		return into, err
	case len(text) > maxJSON:
		return into, fmt.Errorf("%s: it is longer than %d bytes", file.Name(), maxJSON)
	}
	if into, err = decode[T](text); err != nil {
		return into, fmt.Errorf("%s: %w", file.Name(), err)
	}
	return into, nil
}

// outputs lists what nodes left, as paths in the folder with slashes.
func outputs(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(filepath.Join(dir, nodesDir), func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		files = append(files, filepath.ToSlash(relative))
		return err
	})
	return files, err
}
