package httpapi

import (
	"context"
	"net/http"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

func (s *Server) makePutShared(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	return made(event.SharedPut, &event.PutShared{Namespace: r.PathValue("namespace")}, body, decodePutShared, checkPutShared)
}

func (s *Server) makeDeleteShared(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	return made(event.SharedDelete, &event.DeleteShared{Namespace: r.PathValue("namespace")}, body, decodeDeleteShared, checkDeleteShared)
}

func checkPutShared(c *event.PutShared) *api.Error {
	if len(c.Value) == 0 {
		c.Value = value.Null
	}
	return checkPlace(c.Namespace, c.Key)
}

func checkDeleteShared(c *event.DeleteShared) *api.Error { return checkPlace(c.Namespace, c.Key) }

func checkPlace(namespace, key string) *api.Error {
	if rule := memory.CheckNamespace(namespace); rule != "" {
		return invalid("namespace", rule, "")
	}
	return checkKeyOf("key", key)
}

func checkKeyOf(name, key string) *api.Error {
	if rule := memory.CheckKey(key); rule != "" {
		return invalid(name, rule, "for example orders/open")
	}
	return nil
}

// getSharedValue serves GET …/shared/{namespace}/value.
func (s *Server) getSharedValue(ctx context.Context, r *http.Request, p *params) (any, *api.Error) {
	namespace, key, consistency := r.PathValue("namespace"), p.values.Get("key"), p.consistency()
	e := checkPlace(namespace, key)
	if broken := p.check(); broken != nil {
		e = broken
	}
	if e != nil {
		return nil, e
	}
	view, e := s.read(ctx, consistency)
	if e != nil {
		return nil, e
	}
	entry := view.Memory.GetShared(namespace, key)
	if entry == nil {
		return nil, noKey(&view, "see what there is with: omni shared list "+namespace)
	}
	return memoryValue(&view, entry), nil
}

// listShared serves GET …/shared/{namespace}.
func (s *Server) listShared(ctx context.Context, r *http.Request, p *params) (any, *api.Error) {
	namespace, consistency := r.PathValue("namespace"), p.consistency()
	if rule := memory.CheckNamespace(namespace); rule != "" {
		p.fail("namespace", rule, "")
	}
	want := p.keys()
	if e := p.check(); e != nil {
		return nil, e
	}
	view, e := s.read(ctx, consistency)
	if e != nil {
		return nil, e
	}
	page := &api.MemoryPage{Namespace: namespace, As: as(&view)}
	want.fill(&view, page, func(prefix, after string, limit uint32, yield func(*memory.Entry) bool) bool {
		return view.Memory.ListShared(namespace, prefix, after, limit, yield)
	})
	return page, nil
}
