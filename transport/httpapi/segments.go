package httpapi

import (
	"context"
	"encoding/hex"
	"math"
	"net/http"

	"github.com/omnikernel/omnikernel/transport/api"
)

// getSegments serves GET …/log/segments: the manifest of the sealed segments, as
// the node's state has it, so that two nodes, or a node and an export, can be
// compared piece by piece.
func (s *Server) getSegments(ctx context.Context, _ *http.Request, p *params) (any, *api.Error) {
	from, limit, consistency := p.number("from", 1, math.MaxUint64), p.limit(), p.consistency()
	if e := p.check(); e != nil {
		return nil, e
	}
	view, e := s.read(ctx, consistency)
	if e != nil {
		return nil, e
	}
	log := &view.Log
	page := &api.LogSegments{
		Segments: []api.LogSegment{},
		Tail:     api.LogTail{FirstSeq: log.Tail.FirstSeq, Start: log.Tail.Start, ChainIn: hex.EncodeToString(log.Tail.ChainIn[:])},
		As:       as(&view),
	}
	for i := range log.Sealed {
		segment := &log.Sealed[i]
		switch {
		case segment.LastSeq < from:
			continue
		case len(page.Segments) == limit:
			page.Next = segment.FirstSeq
			return page, nil
		}
		page.Segments = append(page.Segments, api.LogSegment{
			FirstSeq: segment.FirstSeq, LastSeq: segment.LastSeq, FirstIndex: segment.FirstIndex, LastIndex: segment.LastIndex,
			Start: segment.Start, Bytes: segment.Bytes, ArchivedAt: segment.ArchivedAt,
			ChainIn: hex.EncodeToString(segment.ChainIn[:]), ChainOut: hex.EncodeToString(segment.ChainOut[:]),
		})
	}
	return page, nil
}
