package nodejournal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/omnikernel/omnikernel/cluster/nodestate"
)

// Names of files in the data directory.
const (
	journalFile = "node-journal.jsonl"
	olderFile   = "node-journal.1.jsonl"
)

// Damage is a place in a file that does not read.
type Damage struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	What   string `json:"what"`
}

// String is a sentence for people.
func (d Damage) String() string { return fmt.Sprintf("%s: offset %d: %s", d.File, d.Offset, d.What) }

// Found is what files of a journal hold.
type Found struct {
	Entries []nodestate.Entry // oldest first
	Damage  []Damage
}

// After leaves the entries after a seq, and the newest of those when there are
// more than limit.
func (f Found) After(seq uint64, limit int) Found {
	first := 0
	for first < len(f.Entries) && f.Entries[first].Seq <= seq {
		first++
	}
	f.Entries = f.Entries[max(first, len(f.Entries)-limit):]
	return f
}

// parse reads what a journal file holds. It returns the length of what ends with
// a whole line: what comes after is torn.
func parse(name string, content []byte) (found Found, whole int64) {
	for offset := int64(0); len(content) > 0; {
		line, rest, ended := bytes.Cut(content, []byte{'\n'})
		if !ended {
			return found, offset
		}
		e, err := parseLine(line)
		if err != nil {
			found.Damage = append(found.Damage, Damage{name, offset, "a line does not read: " + err.Error()})
		} else {
			found.Entries = append(found.Entries, e)
		}
		offset += int64(len(line)) + 1
		whole, content = offset, rest
	}
	return found, whole
}

// readFile reads a journal file; a missing one holds nothing.
func readFile(dir, name string, limit int64) (found Found, whole, size int64, err error) {
	content, err := readBounded(filepath.Join(dir, name), limit)
	if err != nil {
		return Found{}, 0, 0, err
	}
	found, whole = parse(name, content)
	return found, whole, int64(len(content)), nil
}

var errFileLong = errors.New("the file is longer than a node makes it")

func readBounded(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("node journal: %w", err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("node journal: %w", err)
	}
	if int64(len(content)) > limit {
		return nil, fmt.Errorf("node journal: %s: %w (%d bytes)", path, errFileLong, limit)
	}
	return content, nil
}

// Read gives what the journal in a data directory holds, whether a node has it
// open or not. A torn last line is damage like any other: it may be one that is
// being written.
func Read(dir string) (Found, error) {
	var all Found
	for _, name := range []string{olderFile, journalFile} {
		found, whole, size, err := readFile(dir, name, 2*maxBytes)
		if err != nil {
			return Found{}, err
		}
		if whole < size {
			found.Damage = append(found.Damage, Damage{name, whole, fmt.Sprintf("the last line is torn: %d bytes", size-whole)})
		}
		all.Entries, all.Damage = append(all.Entries, found.Entries...), append(all.Damage, found.Damage...)
	}
	return all, nil
}
