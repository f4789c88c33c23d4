package httpapi

import (
	"context"
	"net/http"

	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
)

// subjectExporter writes the export of an agent, or of a run. It keeps one block, and
// which blocks it wrote for the bodies in them.
type subjectExporter struct {
	header      logexport.SubjectHeader
	of          func(agent uint32) bool // whose bodies it takes
	last        uint64                  // pointer to the subject's last block
	from        uint64                  // busSeq of the definition
	contentType string
	file        string

	log     *segment.Store
	closing context.Context
	writer  *logexport.SubjectWriter
}

// sendSubject answers with an export.
func (s *Server) sendSubject(w http.ResponseWriter, r *http.Request, p *params, x *subjectExporter) {
	e := p.check()
	if e == nil {
		if first := s.node.Log().Status().FirstSeq; first > 1 {
			// The configuration stands in the first block.
			e = s.logError(&segment.HistoryBehindError{FirstSeq: first})
		}
	}
	if e != nil {
		s.fail(w, e)
		return
	}
	x.log, x.closing = s.node.Log(), s.closing
	s.send(w, r, x.contentType, x.file, func(out *pieces) error { return x.run(r.Context(), out) })
}

func (x *subjectExporter) run(ctx context.Context, out *pieces) (err error) {
	if x.writer, err = logexport.NewSubjectWriter(out, x.header); err != nil {
		return err
	}
	first, err := x.log.BlockAt(0)
	if err != nil {
		return err
	}
	if err := x.writer.First(&first); err != nil {
		return err
	}
	var failed error
	err = x.log.AgentHistory(x.header.Subject(), x.last, x.from, func(position uint64, b *logging.Block) bool {
		if failed = x.block(position, b); failed == nil {
			failed = ctx.Err()
		}
		if failed == nil {
			failed = x.closing.Err()
		}
		return failed == nil
	})
	switch {
	case err != nil:
		return err
	case failed != nil:
		return failed
	}
	if err := x.writer.Finish(); err != nil {
		return err
	}
	return out.flush()
}

// block writes a block of the subject, after those whose bodies it names.
func (x *subjectExporter) block(position uint64, b *logging.Block) error {
	for _, pointer := range kernel.Elsewhere(b, x.of) {
		if x.writer.Has(pointer) {
			continue
		}
		body, err := x.log.BlockAt(pointer - 1)
		if err != nil {
			return err
		}
		if err := x.writer.Body(pointer-1, &body); err != nil {
			return err
		}
	}
	return x.writer.Block(position, b)
}
