package httpapi

import (
	"context"
	"encoding/hex"
	"net/http"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
)

// exportAgent serves GET …/agents/{id}/export: what it takes to replay one
// agent (LO-4), as of the state that the read's consistency gave.
func (s *Server) exportAgent(rt *route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p := rt.params(r)
		ctx, cancel := s.within(r, s.options.ReadTimeout)
		view, no, row, e := s.findAgent(ctx, r, p)
		cancel()
		if e == nil {
			e = p.check()
		}
		if first := s.node.Log().Status().FirstSeq; e == nil && first > 1 {
			// The configuration stands in the first block.
			e = s.logError(&segment.HistoryBehindError{FirstSeq: first})
		}
		if e != nil {
			s.fail(w, e)
			return
		}
		x := agentExporter{log: s.node.Log(), no: no, row: row, closing: s.closing}
		s.send(w, logexport.AgentContentType, "agent.omni", func(out *pieces) error {
			return x.run(r.Context(), out, s.agentHeader(r, &view, no, row))
		})
	}
}

func (s *Server) agentHeader(r *http.Request, view *cluster.View, no uint32, row *state.Row) logexport.AgentHeader {
	return logexport.AgentHeader{
		ClusterID: view.Config.ClusterID, KernelID: s.node.KernelID(), AgentID: r.PathValue("id"), Agent: no,
		Position: row.LastBlock - 1, Head: hex.EncodeToString(row.Head[:]),
	}
}

// agentExporter writes the export of one agent.
type agentExporter struct {
	log     *segment.Store
	no      uint32
	row     *state.Row
	closing context.Context
	writer  *logexport.AgentWriter
}

func (x *agentExporter) run(ctx context.Context, out *pieces, h logexport.AgentHeader) (err error) {
	if x.writer, err = logexport.NewAgentWriter(out, h); err != nil {
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
	err = x.log.AgentHistory(x.no, x.row.LastBlock, x.row.Identity.Seq, func(position uint64, b *logging.Block) bool {
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

// block writes a block of the agent, after those whose bodies it names.
func (x *agentExporter) block(position uint64, b *logging.Block) error {
	for _, pointer := range kernel.Elsewhere(b, x.no) {
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
