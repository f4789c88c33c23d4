package traces

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// Options of an Exporter.
type Options struct {
	ClusterID, KernelID, NodeID string

	Log    *segment.Store
	State  func() *state.State // as new as what the log has published, or newer
	Sender *Sender
	File   string // where the position is kept
	Logger hclog.Logger
}

// Exporter follows a log. Export and Learn are called by one goroutine, the rest
// by any.
type Exporter struct {
	o     Options
	begun *lru.Cache[place, beginning]

	next    atomic.Uint64 // first busSeq that is not exported; 0: not known
	kept    uint64        // as it is in the file; of the goroutine that exports and learns
	spans   atomic.Uint64
	failed  atomic.Uint64
	skipped atomic.Uint64
}

// beginnings is how many ticks and calls that are under way are remembered; what is
// forgotten is looked up in the log.
const beginnings = 1 << 14

// New makes an Exporter, which goes on where the file says.
func New(o Options) (*Exporter, error) {
	begun, err := lru.New[place, beginning](beginnings)
	if err != nil {
		return nil, err
	}
	x := &Exporter{o: o, begun: begun}
	content, err := os.ReadFile(o.File)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("traces: %w", err)
	default:
		// What cannot be read is not known: tracing begins anew.
		x.kept, _ = strconv.ParseUint(strings.TrimSpace(string(content)), 10, 64)
		x.next.Store(x.kept)
	}
	return x, nil
}

// Next is the first busSeq of which nothing was exported; 0 when it is not known.
func (x *Exporter) Next() uint64 { return x.next.Load() }

// Learn takes over how far another node is, or where tracing begins. It never goes back.
func (x *Exporter) Learn(next uint64) {
	if next > x.next.Load() {
		x.next.Store(next)
		x.keep()
	}
}

// keep writes the position down. When that fails, the next start exports some spans
// again, or begins later: it is not worth a node's trouble.
func (x *Exporter) keep() {
	next := x.next.Load()
	if next == x.kept {
		return
	}
	temporary := x.o.File + ".tmp"
	err := os.MkdirAll(filepath.Dir(x.o.File), 0o700)
	if err == nil {
		err = os.WriteFile(temporary, []byte(strconv.FormatUint(next, 10)+"\n"), 0o600)
	}
	if err == nil {
		err = os.Rename(temporary, x.o.File)
	}
	if err != nil {
		x.o.Logger.Warn("where the traces stand could not be kept", "error", err)
		return
	}
	x.kept = next
}

// Counts is what an Exporter has done since the process began.
type Counts struct {
	Spans   uint64 // sent, and taken
	Failed  uint64 // attempts to send some
	Skipped uint64 // records that were not on this node any more
	Behind  uint64 // records that are to be looked at
}

// Counts tells.
func (x *Exporter) Counts() Counts {
	c := Counts{Spans: x.spans.Load(), Failed: x.failed.Load(), Skipped: x.skipped.Load()}
	if next, end := x.next.Load(), x.o.State().Log.NextSeq; next > 0 && end > next {
		c.Behind = end - next
	}
	return c
}

// Export sends what ended in the next piece of the log, and tells whether there is more
// to do at once. An error leaves everything as it was: what was to be sent is made of the
// log again.
func (x *Exporter) Export(ctx context.Context) (more bool, err error) {
	from := x.next.Load()
	if from == 0 {
		return false, nil
	}
	p, err := x.read(from)
	if err != nil {
		return x.skip(from, err)
	}
	if len(p.spans) > 0 {
		err := x.o.Sender.Send(ctx, p.spans)
		var refused *RefusedError
		switch {
		case err == nil:
			x.spans.Add(uint64(len(p.spans)))
		case errors.As(err, &refused): // again and again would not help
			x.failed.Add(1)
			x.o.Logger.Warn("spans are left out", "error", err)
		default:
			x.failed.Add(1)
			return false, err
		}
	}
	if p.next > from {
		x.next.Store(p.next)
		x.keep()
	}
	return p.full, nil
}

// skip goes on behind what this node does not have.
func (x *Exporter) skip(from uint64, err error) (more bool, _ error) {
	var behind *segment.HistoryBehindError
	var gone *segment.CompactedError
	var ahead *segment.AheadError
	to := from
	switch {
	case errors.As(err, &behind):
		to = behind.FirstSeq
	case errors.As(err, &gone):
		to = gone.FirstSeq
	case errors.As(err, &ahead): // another node was further: this one will be
		return false, nil
	}
	if to <= from {
		return false, err
	}
	x.o.Logger.Warn("a part of the log is not on this node: its traces are left out", "from", from, "to", to)
	x.skipped.Add(to - from)
	x.next.Store(to)
	return true, nil
}
