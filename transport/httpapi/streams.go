package httpapi

import (
	"net/http"
	"time"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi/callers"
)

// stream is an answer without an end of its own: a watch or an export. Every
// piece has its own deadline, so that a reader that stops reading is noticed.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	options *Options
	may     func() *api.Error // why it may not go on; nil while it may
	began   time.Time         // of the piece that is being written
	slow    bool              // a piece took longer than SlowAfter
}

// openStream takes a place among the streams; done gives it back.
func (s *Server) openStream(w http.ResponseWriter, r *http.Request) (st *stream, done func(), e *api.Error) {
	caller := s.callerOf(r)
	switch s.streams.Take(caller, 1) {
	case callers.AllHeld:
		return nil, nil, refused(api.CodeTooManyStreams, "", "the node serves as many streams as it takes", "ask another node")
	case callers.Yours:
		return nil, nil, refused(api.CodeTooManyStreams, "", "the node serves "+caller+" as many streams as one caller may have", "end some, or ask another node")
	case callers.Free:
	}
	may := func() *api.Error { return s.mayStill(r.Context()) }
	st = &stream{may: may, w: w, control: http.NewResponseController(w), options: &s.options}
	// A stream outlives the time in which a request must be sent.
	_ = st.control.SetReadDeadline(time.Time{})
	return st, func() { s.streams.Back(caller, 1) }, nil
}

// piece sends bytes and waits until the connection took them. An error means
// that the reader is gone, or that it may read no more: an *api.Error.
func (st *stream) piece(b []byte) error {
	if e := st.may(); e != nil {
		return e
	}
	return st.send(b)
}

// send is piece, of what everybody may be told.
func (st *stream) send(b []byte) error {
	st.began = time.Now()
	// A writer without deadlines is a test's recorder: it takes what it is given.
	_ = st.control.SetWriteDeadline(st.began.Add(st.options.WriteTimeout))
	if _, err := st.w.Write(b); err != nil {
		return err
	}
	err := st.control.Flush()
	st.slow = time.Since(st.began) > st.options.SlowAfter
	return err
}
