package httpapi

import (
	"context"
	"math"
	"net/http"

	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
)

// exportBytes is how much of an export is sent at once.
const exportBytes = 256 << 10

// export serves GET …/log/export: blocks as they lie in the log, between a
// header and a trailer. It ends with the log as of the state that the read's
// consistency gave. What goes wrong on the way leaves out the trailer, so that
// no reader takes it for whole.
func (s *Server) export(rt *route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p := rt.params(r)
		from, consistency := max(p.number("from", 1, math.MaxUint64), 1), p.consistency()
		if e := p.check(); e != nil {
			s.fail(w, e)
			return
		}
		ctx, cancel := s.within(r, s.options.ReadTimeout)
		view, e := s.read(ctx, consistency)
		cancel()
		if e == nil && from > view.Log.NextSeq {
			e = invalid("from", "is beyond the end of the log", "")
		}
		if e == nil {
			e = s.mayExport(from)
		}
		if e != nil {
			s.fail(w, e)
			return
		}
		s.send(w, r, logexport.ContentType, "omni.log", func(out *pieces) error {
			x := exporter{server: s, out: out, end: view.Log.Point}
			return x.run(r.Context(), from)
		})
	}
}

// mayExport says why there can be no export from a place of this node's log, rather than
// in the middle of the file.
func (s *Server) mayExport(from uint64) *api.Error {
	if first := s.node.Log().Status().FirstSeq; from < first {
		return s.logError(&segment.HistoryBehindError{FirstSeq: first})
	}
	if err := s.node.Log().Whole(from); err != nil {
		return s.logError(err)
	}
	return nil
}

// send streams a file whose end says that it is whole. What goes wrong before
// anything was sent is answered; on the way it breaks the answer off.
func (s *Server) send(w http.ResponseWriter, r *http.Request, contentType, name string, run func(*pieces) error) {
	st, done, e := s.openStream(w, r)
	if e != nil {
		s.fail(w, e)
		return
	}
	defer done()
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	out := &pieces{stream: st}
	if err := run(out); err != nil && !out.begun {
		w.Header().Del("Content-Disposition")
		s.fail(w, s.logError(err))
	} else if err != nil {
		s.log.Warn("an export was broken off", "file", name, "error", err)
		panic(http.ErrAbortHandler) // so that the client sees that it is not whole
	}
}

// exporter writes one export.
type exporter struct {
	server *Server
	out    *pieces
	writer *logexport.Writer
	end    logging.Point
}

func (x *exporter) run(ctx context.Context, from uint64) error {
	if from == x.end.NextSeq { // nothing but the place
		if err := x.start(x.end); err != nil {
			return err
		}
		return x.finish()
	}
	var failed error
	_, err := x.server.node.Log().ReadFrom(from, func(position uint64, b *logging.Block) bool {
		if b.FirstSeq >= x.end.NextSeq {
			return false
		}
		if x.writer == nil {
			failed = x.start(logging.Point{NextSeq: b.FirstSeq, Position: position, Chain: b.PrevChain})
		}
		if failed == nil {
			failed = x.writer.Block(b.Raw)
		}
		if failed == nil {
			failed = ctx.Err()
		}
		return failed == nil && x.server.closing.Err() == nil
	})
	switch {
	case err != nil:
		return err
	case failed != nil:
		return failed
	case x.server.closing.Err() != nil:
		return x.server.closing.Err()
	}
	return x.finish()
}

func (x *exporter) start(at logging.Point) (err error) {
	x.writer, err = logexport.NewWriter(x.out, x.server.node.ClusterID(), x.server.node.KernelID(), at)
	return err
}

func (x *exporter) finish() error {
	if err := x.writer.Finish(); err != nil {
		return err
	}
	return x.out.flush()
}

// pieces gathers an export into pieces of a stream.
type pieces struct {
	stream *stream
	held   []byte
	begun  bool // something was sent
}

func (p *pieces) Write(b []byte) (int, error) {
	p.held = append(p.held, b...)
	if len(p.held) < exportBytes {
		return len(b), nil
	}
	return len(b), p.flush()
}

func (p *pieces) flush() error {
	p.begun = true
	err := p.stream.piece(p.held)
	p.held = p.held[:0]
	return err
}
