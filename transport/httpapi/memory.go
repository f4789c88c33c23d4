package httpapi

import (
	"context"
	"net/http"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/transport/api"
)

// getMemoryValue serves GET …/agents/{id}/memory/value.
func (s *Server) getMemoryValue(ctx context.Context, r *http.Request, p *params) (any, *api.Error) {
	key := p.values.Get("key")
	if e := checkKeyOf("key", key); e != nil {
		p.fail("key", e.Rule, e.Hint)
	}
	view, no, row, e := s.findAgent(ctx, r, p)
	if e != nil {
		return nil, e
	}
	entry := view.Memory.Get(no, key)
	if entry == nil {
		return nil, noKey(&view, "see what there is with: omni memory list "+flows.FormatID(row.Identity.ID))
	}
	return memoryValue(&view, entry), nil
}

// listMemory serves GET …/agents/{id}/memory.
func (s *Server) listMemory(ctx context.Context, r *http.Request, p *params) (any, *api.Error) {
	want := p.keys()
	view, no, row, e := s.findAgent(ctx, r, p)
	if e != nil {
		return nil, e
	}
	page := &api.MemoryPage{AgentID: flows.FormatID(row.Identity.ID), As: as(&view)}
	want.fill(&view, page, func(prefix, after string, limit uint32, yield func(*memory.Entry) bool) bool {
		return view.Memory.List(no, prefix, after, limit, yield)
	})
	return page, nil
}

// noKey is the answer for a key that does not exist, with the index as of which
// it does not.
func noKey(v *cluster.View, hint string) *api.Error {
	e := refused(api.CodeNotFound, "key", "there is no such key", hint)
	e.Index = v.Index
	return e
}

func memoryValue(v *cluster.View, e *memory.Entry) *api.MemoryValue {
	return &api.MemoryValue{
		Namespace: e.Namespace, AgentID: idOf(v, e.Agent), Key: e.Key, Value: e.Value, Version: e.Version,
		WriterID: idOf(v, e.Writer), AtMillis: e.At, As: as(v),
	}
}

// idOf is the UUID of an agent by its number; empty for 0, which is nobody.
func idOf(v *cluster.View, no uint32) string {
	row := v.Agents.Get(no)
	if row == nil {
		return ""
	}
	return flows.FormatID(row.Identity.ID)
}

// wantedKeys is what a listing of keys selects.
type wantedKeys struct {
	prefix, after string
	limit         int
}

// keys reads it. A prefix is segments, as the kernel tools memory.list and
// shared.list have it: orders selects orders/17, and not orders itself.
func (p *params) keys() wantedKeys {
	w := wantedKeys{prefix: p.values.Get("prefix"), after: p.values.Get("after"), limit: p.limit()}
	if p.values.Has("prefix") {
		if e := checkKeyOf("prefix", w.prefix); e != nil {
			p.fail("prefix", e.Rule, e.Hint)
		}
		w.prefix += "/"
	}
	if p.values.Has("after") {
		if e := checkKeyOf("after", w.after); e != nil {
			p.fail("after", e.Rule, e.Hint)
		}
	}
	return w
}

func (w *wantedKeys) fill(
	v *cluster.View, page *api.MemoryPage, list func(prefix, after string, limit uint32, yield func(*memory.Entry) bool) (more bool),
) {
	page.Keys = []api.MemoryKey{}
	more := list(w.prefix, w.after, uint32(w.limit), func(e *memory.Entry) bool {
		page.Keys = append(page.Keys, api.MemoryKey{
			Key: e.Key, Version: e.Version, Bytes: uint64(len(e.Value)), WriterID: idOf(v, e.Writer), AtMillis: e.At,
		})
		return true
	})
	if more {
		page.Next = page.Keys[len(page.Keys)-1].Key
	}
}
