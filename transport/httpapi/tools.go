package httpapi

import (
	"context"
	"math"
	"net/http"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

func (s *Server) makeRegisterTool(_ *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	c := new(event.RegisterTool)
	if e := decodeManifest(body, "", &c.Manifest); e != nil {
		return 0, nil, e
	}
	return event.ToolRegister, c, s.checkManifest(&c.Manifest)
}

// checkManifest checks what the kernel will check, apart from its own limits, and
// what it never looks into: schemas, and what is the adapter's (TO-9).
func (s *Server) checkManifest(m *tools.Manifest) *api.Error {
	r := m.Check(math.MaxInt32, math.MaxInt64)
	if r == nil && s.options.CheckTool != nil {
		r = s.options.CheckTool(m)
	}
	if r != nil {
		return atDoor(r)
	}
	return nil
}

func (s *Server) makeDeregisterTool(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	c := &event.DeregisterTool{Name: r.PathValue("name")}
	return made(event.ToolDeregister, c, body, decodeDeregister, func(*event.DeregisterTool) *api.Error { return nil })
}

// getTool serves GET …/tools/{name}.
func (s *Server) getTool(ctx context.Context, r *http.Request, p *params) (any, *api.Error) {
	name, consistency := r.PathValue("name"), p.consistency()
	if e := p.check(); e != nil {
		return nil, e
	}
	view, e := s.read(ctx, consistency)
	if e != nil {
		return nil, e
	}
	found, ok := view.Tools.Registered(name)
	if !ok {
		e := refused(api.CodeNotFound, "name", "no tool of this name is registered", "see what there is with: omni tool list")
		e.Index = view.Index
		return nil, e
	}
	told := &api.Tool{Manifest: *found.Manifest, Revision: found.No, AtMillis: found.At, Calls: found.Calls, As: as(&view)}
	view.Tools.AllRevisions(func(r *tools.Revision) bool {
		if r.Manifest.Name == name && !r.Registered {
			told.Earlier = append(told.Earlier, api.EarlierTool{Version: r.Manifest.Version, Revision: r.No, AtMillis: r.At, Calls: r.Calls})
		}
		return true
	})
	return told, nil
}

// listTools serves GET …/tools.
func (s *Server) listTools(ctx context.Context, _ *http.Request, p *params) (any, *api.Error) {
	limit, after, consistency := p.limit(), p.values.Get("after"), p.consistency()
	if e := p.check(); e != nil {
		return nil, e
	}
	view, e := s.read(ctx, consistency)
	if e != nil {
		return nil, e
	}
	page := &api.ToolPage{Tools: []api.ToolSummary{}, BuiltIn: tools.Names(), As: as(&view)}
	view.Tools.AllRegistered(func(r *tools.Revision) bool {
		m := r.Manifest
		switch {
		case m.Name <= after:
		case len(page.Tools) == limit:
			page.Next = page.Tools[limit-1].Name
			return false
		default:
			page.Tools = append(page.Tools, api.ToolSummary{
				Name: m.Name, Version: m.Version, Description: m.Description, Adapter: m.Adapter, Idempotent: m.Idempotent,
				Revision: r.No, AtMillis: r.At, Calls: r.Calls,
			})
		}
		return true
	})
	return page, nil
}
