package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi/recordjson"
)

// How much of the log one turn of a watch reads, and how much it sends at once.
const (
	watchBlocks = 1024
	watchBytes  = 64 << 10
)

// stateSoon is how long a watch waits for the state that goes with records
// which the log has: it is published right after them.
const stateSoon = time.Millisecond

// watcher is one watch (CL-5): committed and applied records, in order, each
// once, without gaps, from a busSeq on. Its memory is one piece of the stream:
// it reads the log as fast as the reader takes it.
type watcher struct {
	server *Server
	stream *stream
	want   *recordjson.Select
	of     subject
	no     uint32 // what stands for it in blocks; 0 while it is not there
	at     uint64 // busSeq of the next record to look at
	sent   uint64 // the position that the reader knows
	piece  []byte
	over   <-chan time.Time // when the reader's credential expires; nil for never
}

// watch serves GET …/watch as Server-Sent Events.
func (s *Server) watch(rt *route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p := rt.params(r)
		watcher := &watcher{server: s, want: p.kinds()}
		watcher.want.Notes, watcher.want.Runs = p.truth("notes"), p.truth("runs")
		from, resumed := p.position(r)
		watcher.of = p.subject()
		if e := p.check(); e != nil {
			s.fail(w, e)
			return
		}
		stream, done, e := s.openStream(w, r)
		if e != nil {
			s.fail(w, e)
			return
		}
		defer done()
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		defer context.AfterFunc(s.closing, cancel)()
		watcher.stream = stream
		watcher.over = s.expiry(ctx)
		if e := watcher.begin(ctx, from, resumed); e != nil {
			s.fail(w, e)
			return
		}
		watcher.run(ctx)
	}
}

// position is where the watch begins: after the last record that the reader
// saw, at from, or at the next record to come.
func (p *params) position(r *http.Request) (from uint64, given bool) {
	if last := r.Header.Get(api.HeaderLastEvent); last != "" {
		n, err := strconv.ParseUint(last, 10, 64)
		if err != nil || n == math.MaxUint64 {
			p.fail(api.HeaderLastEvent, "must be the id of an event of this stream", "")
		}
		return after(n), true
	}
	if !p.values.Has("from") {
		return 0, false
	}
	return p.number("from", 1, math.MaxUint64), true
}

// begin finds the first position and sends the stream's header. What it
// refuses is an answer still, not an event.
func (w *watcher) begin(ctx context.Context, from uint64, given bool) *api.Error {
	view, e := w.server.read(ctx, cluster.Consistency{Level: cluster.Stale})
	if e != nil {
		return e
	}
	if w.at = from; !given {
		w.at = view.Log.NextSeq
	}
	if e := w.compacted(&view); e != nil {
		return e
	}
	if first := w.server.node.Log().Status().FirstSeq; w.at < first {
		return w.server.logError(&segment.HistoryBehindError{FirstSeq: first})
	}
	h := w.stream.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // a proxy must not hold pieces back
	w.stream.w.WriteHeader(http.StatusOK)
	w.event(api.EventOpen, w.at-1, api.Opened{From: w.at, Node: w.server.node.ID()})
	return nil
}

// compacted refuses what was archived (CL-5): a watch has no gaps, and some
// nodes may not keep the archive.
func (w *watcher) compacted(view *cluster.View) *api.Error {
	first := view.Log.FirstKept()
	if w.at >= first {
		return nil
	}
	e := refused(api.CodeCompacted, "from", "the log below was archived", "go on from first; what was archived can be read page by page where the archive is kept")
	e.First = first
	return e
}

// run sends records until the reader or the server goes, or the log cannot be
// read on.
func (w *watcher) run(ctx context.Context) {
	heartbeat := time.NewTicker(w.server.options.Heartbeat)
	defer heartbeat.Stop()
	if w.flushed() {
		return
	}
	for ctx.Err() == nil {
		next, more := w.server.node.Log().Grown()
		advanced, e := w.advance(ctx, next)
		if e != nil {
			w.end(e)
			return
		}
		if len(w.piece) > 0 && w.flushed() {
			return
		}
		if w.stream.slow {
			w.end(refused(api.CodeSlowConsumer, "", "the reader was too slow to take what it was sent", "go on from the last id"))
			return
		}
		var soon <-chan time.Time
		switch {
		case advanced:
			continue
		case w.at < next:
			soon = time.After(stateSoon)
			more = nil
		}
		select {
		case <-more:
		case <-w.over:
			w.over = nil
			if e := w.server.mayStill(ctx); e != nil {
				w.end(e)
				return
			}
		case <-soon:
		case <-heartbeat.C:
			w.heartbeat()
			if w.flushed() {
				return
			}
		case <-ctx.Done():
		}
	}
}

// advance reads on, up to a bound, and tells whether it came further. next is
// where the log ends; the state may not be that far for a moment.
func (w *watcher) advance(ctx context.Context, next uint64) (bool, *api.Error) {
	if w.at >= next {
		return false, nil
	}
	view, e := w.server.read(ctx, cluster.Consistency{Level: cluster.Stale})
	if e != nil {
		return false, e
	}
	if w.at >= view.Log.NextSeq {
		return false, nil
	}
	if e := w.compacted(&view); e != nil {
		return false, e
	}
	return true, w.turn(&view)
}

// turn reads blocks of the log and renders what is wanted of them.
func (w *watcher) turn(view *cluster.View) *api.Error {
	known := w.know(view)
	var failed error
	blocks := 0
	w.want.From = w.at
	_, err := w.server.node.Log().ReadFrom(w.at, func(_ uint64, b *logging.Block) bool {
		if b.FirstSeq >= view.Log.NextSeq {
			return false
		}
		if known && w.concerns(b) {
			failed = w.server.renderer.Block(view.State, b, w.want, w.record)
		}
		if failed != nil {
			return false
		}
		blocks++
		w.at = b.LastSeq() + 1
		return blocks < watchBlocks && len(w.piece) < watchBytes
	})
	if err != nil {
		return w.server.logError(err)
	}
	if failed != nil {
		return w.server.logError(failed)
	}
	return nil
}

// know finds the number of the watched agent or run; false while there is none: it
// may be defined later than the watch begins.
func (w *watcher) know(view *cluster.View) bool {
	if w.of.given && w.no == 0 {
		if place, e := w.server.find(w.of, view, w.want); e == nil {
			w.no = place.subject
		}
	}
	return !w.of.given || w.no != 0
}

func (w *watcher) concerns(b *logging.Block) bool {
	if !w.of.given {
		return true
	}
	_, touched := b.Previous(w.no)
	return touched
}

func (w *watcher) record(r *api.Record) bool {
	w.event(api.EventRecord, r.BusSeq, r)
	return true
}

// event appends one event to the piece. JSON has no line breaks of its own.
func (w *watcher) event(name string, id uint64, data any) {
	encoded, err := json.Marshal(data)
	if err != nil {
		return // api types always encode
	}
	w.piece = append(w.piece, "id: "...)
	w.piece = strconv.AppendUint(w.piece, id, 10)
	w.piece = append(w.piece, "\nevent: "...)
	w.piece = append(w.piece, name...)
	w.piece = append(w.piece, "\ndata: "...)
	w.piece = append(w.piece, encoded...)
	w.piece = append(w.piece, "\n\n"...)
	w.sent = id
}

// heartbeat is a comment, with the position as an id when it has moved without
// an event: an event without data is not dispatched, but its id is kept, so a
// reader of few records does not go on from far behind.
func (w *watcher) heartbeat() {
	w.piece = append(w.piece, ": heartbeat\n"...)
	if w.at-1 > w.sent {
		w.sent = w.at - 1
		w.piece = append(w.piece, "id: "...)
		w.piece = strconv.AppendUint(w.piece, w.sent, 10)
		w.piece = append(w.piece, '\n')
	}
	w.piece = append(w.piece, '\n')
}

// end says why the stream ends, if the reader still listens.
func (w *watcher) end(e *api.Error) {
	e.Node = w.server.node.ID()
	w.event(api.EventError, max(w.at, 1)-1, e)
	w.stream.may = func() *api.Error { return nil } // it is told why, and nothing else
	if err := w.flush(); err != nil && !errors.Is(err, http.ErrHandlerTimeout) {
		w.server.log.Debug("a watch ended before it was told why", "error", err)
	}
}

// flushed sends what there is, and tells whether that was the end of it: the reader is
// gone, or may read no more and was told.
func (w *watcher) flushed() bool {
	err := w.flush()
	var refused *api.Error
	if errors.As(err, &refused) {
		w.end(refused)
	}
	return err != nil
}

func (w *watcher) flush() error {
	err := w.stream.piece(w.piece)
	w.piece = w.piece[:0]
	return err
}
