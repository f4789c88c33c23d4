package httpapi

import (
	"net/http"

	"github.com/omnikernel/omnikernel/transport/api"
)

// surviving keeps a request's panic from anybody else's requests. A read that has not
// been answered yet is answered with INTERNAL. Otherwise the connection breaks, so that
// the client sees that the answer is not whole, or takes its command's outcome for
// unknown, which it is.
func (s *Server) surviving(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if cause == http.ErrAbortHandler { //nolint:errorlint // it is panicked with as it is
				panic(http.ErrAbortHandler) // an answer that was given up on purpose
			}
			s.options.Panicked(cause)
			if r.Method != http.MethodGet || w.Header()["Content-Type"] != nil { // which every answer has
				panic(http.ErrAbortHandler)
			}
			s.fail(w, refused(api.CodeInternal, "", "the node failed over this request", "the node's own log tells more"))
		}()
		next.ServeHTTP(w, r)
	})
}
