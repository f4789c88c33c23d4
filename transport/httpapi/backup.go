package httpapi

import (
	"context"
	"fmt"
	"net/http"

	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/transport/api"
)

// backup serves GET …/backup: the state that the read's consistency gave, and the
// whole log up to it, with stubs of what is in an archive that is not here. What goes wrong on the way leaves out the trailer, so that no
// reader takes it for whole.
func (s *Server) backup(rt *route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p := rt.params(r)
		consistency := p.consistency()
		if e := p.check(); e != nil {
			s.fail(w, e)
			return
		}
		ctx, cancel := s.within(r, s.options.ReadTimeout)
		defer cancel()
		on, e := s.onRecord(ctx, event.Order{Action: "backup.create", Resource: flows.Nothing, Detail: "of " + s.node.ID()}, s.mayGoWithout(r, false))
		if e != nil {
			s.fail(w, e)
			return
		}
		if on.without != "" {
			w.Header().Set(api.HeaderNotOnRecord, plainDetail(on.without))
			s.log.Warn("a backup is made that is not in the execution log", "by", on.by, "why", on.without)
		}
		reading, cancel := s.within(r, s.options.ReadTimeout)
		defer cancel()
		view, e := s.read(reading, consistency)
		if e == nil {
			e = s.mayBackUp(view.State)
		}
		if e != nil {
			s.fail(w, e)
			return
		}
		s.send(w, r, backup.ContentType, fmt.Sprintf("omni-%d%s", view.Index, backup.Suffix), func(out *pieces) error {
			making, cancel := context.WithCancel(r.Context())
			defer cancel()
			defer context.AfterFunc(s.closing, cancel)()
			if _, err := s.node.Backup(making, view.State, out); err != nil {
				return err
			}
			return out.flush()
		})
	}
}

// mayBackUp says why there can be no backup of a state here.
func (s *Server) mayBackUp(of *state.State) *api.Error {
	if of.Config == nil {
		return refused(string(failure.NotBooted), "", "the cluster has no configuration yet: there is nothing to back up", "ask again")
	}
	first := s.node.Log().Status().FirstSeq
	if first <= 1 {
		return nil
	}
	e := refused(api.CodeHistoryBehind, "", "this node does not hold the log below the position named in first (yet), and a backup has all of it",
		"ask another node: omni backup create --node ID")
	e.First = first
	return e
}
