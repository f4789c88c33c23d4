package httpapi

import (
	"context"
	"errors"
	"math"
	"net/http"

	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/api/logproof"
)

// getProof serves GET …/log/proof: that one record is in the log, against the
// newest root on record (LO-7). What it answers it has checked as its reader will.
func (s *Server) getProof(ctx context.Context, _ *http.Request, p *params) (any, *api.Error) {
	seq, consistency := p.number("seq", 1, math.MaxUint64), p.consistency()
	if e := p.check(); e != nil {
		return nil, e
	}
	view, e := s.read(ctx, consistency)
	if e != nil {
		return nil, e
	}
	if seq >= view.Log.NextSeq {
		return nil, refused(api.CodeNotFound, "seq", "the log has no such record yet", "")
	}
	if view.Log.Signed == 0 {
		return nil, notCovered()
	}
	head, err := s.node.Log().BlockAt(view.Log.Signed - 1)
	if err != nil {
		return nil, s.logError(err)
	}
	size, err := logproof.SizeOf(&head)
	if err != nil {
		return nil, s.logError(err)
	}
	block, way, err := s.node.Log().Prove(seq, size)
	var young *segment.NotCoveredError
	switch {
	case errors.As(err, &young):
		return nil, notCovered()
	case err != nil:
		return nil, s.logError(err)
	}
	return s.checkedProof(seq, block, head.Raw, &way)
}

func (s *Server) checkedProof(seq uint64, block, head []byte, way *logging.Proof) (any, *api.Error) {
	proof, err := logproof.New(s.node.ClusterID(), s.node.KernelID(), seq, block, head, way)
	if err == nil {
		_, err = logproof.Check(proof)
	}
	if err != nil {
		return nil, s.logError(err)
	}
	return proof, nil
}

func notCovered() *api.Error {
	return refused(api.CodeNotCovered, "seq", "no Checkpoint has come since the record", "ask again in some seconds")
}
