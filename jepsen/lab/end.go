package lab

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/history"
)

// End is how a process of a node ended.
type End struct {
	Node   string
	Start  int // of which it was the end, from 1
	At     time.Time
	Code   int            // exit code; -1 when a signal ended it
	Signal syscall.Signal // 0 when it exited
	Wanted bool           // by Stop, in order, or by Kill
	Last   []string       // the last lines that it wrote, at most lastCount
}

// How is the end in a few words.
func (e End) How() string {
	if e.Signal != 0 {
		return fmt.Sprintf("was ended by signal %d (%v)", int(e.Signal), e.Signal)
	}
	return fmt.Sprintf("ended with code %d", e.Code)
}

// Words are the last lines in one.
func (e End) Words() string {
	if len(e.Last) == 0 {
		return "it said nothing"
	}
	return strings.Join(e.Last, "\n")
}

// life is what is recorded of the end.
func (e End) life() history.Life {
	l := history.Life{Node: e.Node, What: "ended", Wanted: e.Wanted, Detail: e.How()}
	switch {
	case e.Wanted && e.Signal == syscall.SIGKILL:
		l.What = "killed"
	case e.Wanted:
		l.What = "stopped"
	case len(e.Last) > 0:
		l.Detail += "; its last words:\n" + e.Words()
	}
	return l
}

// What is kept of a process's last words.
const (
	lastCount = 20
	lastBytes = 16 << 10
)

// lastLines reads the last lines of a log, of those behind an offset.
func lastLines(log *os.File, from int64) []string {
	info, err := log.Stat()
	if err != nil {
		return []string{err.Error()}
	}
	from = max(from, info.Size()-lastBytes)
	text := make([]byte, max(0, info.Size()-from))
	n, _ := log.ReadAt(text, from) // what can be read
	var lines []string
	for line := range bytes.Lines(text[:n]) {
		if kept := string(bytes.TrimRight(line, "\r\n")); kept != "" && !strings.HasPrefix(kept, "=== ") {
			lines = append(lines, kept)
		}
	}
	return lines[max(0, len(lines)-lastCount):]
}
