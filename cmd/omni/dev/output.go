package dev

import (
	"io"
	"os"
	"strings"
)

const (
	// maxLogBytes is when a node's output moves to NAME.log.1, at its next start.
	maxLogBytes = 16 << 20
	// tailBytes of the output are shown when a node does not start.
	tailBytes = 2 << 10
	tailLines = 5
)

// openLog opens a node's output for appending.
func openLog(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxLogBytes {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, &Problem{Rule: path + " cannot be moved away: " + cause(err)}
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, &Problem{Rule: path + " cannot be written: " + cause(err)}
	}
	return f, nil
}

// tail is the last lines of a node's output; empty when there is none.
func tail(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > tailBytes {
		if _, err := f.Seek(-tailBytes, io.SeekEnd); err != nil {
			return ""
		}
	}
	raw, err := io.ReadAll(io.LimitReader(f, tailBytes))
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
}
