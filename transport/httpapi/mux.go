package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/omnikernel/omnikernel/transport/api"
)

// routes makes the handler of everything: the table's routes, the document,
// and an answer of ours for addresses and methods that do not exist.
func (s *Server) routes() http.Handler {
	mux, paths := http.NewServeMux(), http.NewServeMux()
	table := s.table()
	methods := make(map[string][]string) // by path
	for _, rt := range table {
		handle := s.guard(rt, rt.handle)
		if rt.method != http.MethodGet {
			handle = s.sameOrigin(handle)
		}
		if strings.HasPrefix(rt.path, kernelPath) {
			handle = s.ofKernel(handle)
		}
		if rt.contentType != "" {
			handle = s.noHead(handle)
		}
		mux.HandleFunc(rt.method+" "+rt.path, s.counted(rt.id, rt.contentType != "", handle))
		if methods[rt.path] == nil {
			paths.HandleFunc(rt.path, http.NotFound)
		}
		methods[rt.path] = append(methods[rt.path], rt.method)
	}
	s.document(mux, table)
	mux.HandleFunc("/", s.counted("none", false, func(w http.ResponseWriter, r *http.Request) {
		if _, path := paths.Handler(r); path != "" {
			s.wrongMethod(w, methods[path])
			return
		}
		s.fail(w, refused(api.CodeNotFound, "path", "there is nothing at this address", "the addresses are in /openapi.json"))
	}))
	return mux
}

// ofKernel answers for the one kernel that the node hosts.
func (s *Server) ofKernel(next http.HandlerFunc) http.HandlerFunc {
	kernel := s.node.KernelID()
	return func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("kernel") != kernel {
			s.fail(w, refused(api.CodeNotFound, "kernel", "this node hosts no kernel of that id", "it hosts: "+kernel))
			return
		}
		next(w, r)
	}
}

// sameOrigin refuses what a browser sends for a page from elsewhere.
func (s *Server) sameOrigin(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.origins.Check(r) != nil {
			s.turned.crossOrigin.Add(1)
			s.fail(w, refused(api.CodeCrossOrigin, "Origin", "a page from elsewhere may not send commands", ""))
			return
		}
		next(w, r)
	}
}

// noHead: a stream without a body would have no end.
func (s *Server) noHead(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			s.wrongMethod(w, []string{http.MethodGet})
			return
		}
		next(w, r)
	}
}

func (s *Server) wrongMethod(w http.ResponseWriter, allowed []string) {
	list := strings.Join(slices.Sorted(slices.Values(allowed)), ", ")
	w.Header().Set("Allow", list)
	s.fail(w, refused(api.CodeMethod, "method", "must be "+list, ""))
}
