package httpapi

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi/callers"
)

// readBody reads a request's body as one strict JSON document of at most limit
// bytes, in canonical form. No body at all is an empty map. done gives back
// what the body took of the server's memory, and must be called.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request, limit int64) (raw value.Raw, done func(), e *api.Error) {
	if r.ContentLength == 0 {
		return value.EmptyMap, func() {}, nil
	}
	room := &room{server: s, caller: s.callerOf(r)}
	src, e := s.take(w, r, limit, room)
	if e == nil {
		raw, e = strict(src, limit)
	}
	return raw, room.leave, e
}

// take reads a body to its end, or refuses it.
func (s *Server) take(w http.ResponseWriter, r *http.Request, limit int64, room *room) ([]byte, *api.Error) {
	if r.ContentLength > limit {
		s.turned.tooLarge.Add(1)
		return nil, tooLarge(limit)
	}
	if e := checkType(r); e != nil {
		return nil, e
	}
	return s.readAll(w, r, limit, room)
}

// room is what one body takes of the memory for bodies: as much as has come of
// it. What a header promises takes nothing, so that whoever promises much and
// sends it slowly keeps nobody else out.
type room struct {
	server *Server
	caller string
	bytes  int64
}

func (m *room) grow(to int64) *api.Error {
	switch m.server.bodies.Take(m.caller, to-m.bytes) {
	case callers.AllHeld:
		return refused(api.CodeTooManyRequests, "", "the node works on as many bytes of requests as it takes", "send it again a little later")
	case callers.Yours:
		return refused(api.CodeTooManyRequests, "", "the node works on as many bytes of requests of "+m.caller+" as of one caller", "send fewer at once")
	case callers.Free:
	}
	m.bytes = to
	return nil
}

func (m *room) leave() {
	if m.bytes > 0 {
		m.server.bodies.Back(m.caller, m.bytes)
	}
	m.bytes = 0
}

func tooLarge(limit int64) *api.Error {
	return refused(api.CodeTooLarge, "body", "must be at most "+strconv.FormatInt(limit, 10)+" bytes", "")
}

// checkType accepts JSON in UTF-8 only. A form, which a browser would send to
// anybody, is no command. What is compressed is never unpacked: how much it
// becomes is the sender's choice.
func checkType(r *http.Request) *api.Error {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return refused(api.CodeMediaType, "Content-Encoding", "must be left out: bodies are taken as they are", "send the body without compression")
	}
	header := r.Header.Get("Content-Type")
	if header == "application/json" {
		return nil
	}
	kind, params, err := mime.ParseMediaType(header)
	charset := params["charset"]
	if err == nil && kind == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8")) {
		return nil
	}
	return refused(api.CodeMediaType, "Content-Type", "must be application/json, in UTF-8", "send the header Content-Type: application/json")
}

// firstPiece is how much of a body is made room for before any of it has come.
const firstPiece = 16 << 10

func (s *Server) readAll(w http.ResponseWriter, r *http.Request, limit int64, room *room) ([]byte, *api.Error) {
	most := r.ContentLength
	if most < 0 {
		most = limit // a chunked body
	}
	var src []byte
	body := http.MaxBytesReader(w, r.Body, limit)
	for {
		if len(src) == cap(src) {
			size := min(most, max(2*int64(len(src)), firstPiece))
			if e := room.grow(size); e != nil {
				return nil, e
			}
			src = append(make([]byte, 0, size+1), src...) // one more, so that the end is seen without growing
		}
		n, err := body.Read(src[len(src):cap(src)])
		src = src[:len(src)+n]
		switch large := (*http.MaxBytesError)(nil); {
		case err == nil:
		case errors.Is(err, io.EOF):
			return src, nil
		case errors.As(err, &large):
			s.turned.tooLarge.Add(1)
			return nil, tooLarge(limit)
		default:
			return nil, refused(api.CodeTimeout, "body", "could not be read to its end", "")
		}
	}
}

// strict turns JSON into canonical form. What is no JSON at all is told apart
// from JSON that is no value (EX-10).
func strict(src []byte, limit int64) (value.Raw, *api.Error) {
	raw, problem := value.FromJSON(src, int(2*limit))
	if problem == nil {
		return raw, nil
	}
	code, hint := api.CodeInvalidValue, ""
	switch {
	case !utf8.Valid(src):
		hint = "send the body in UTF-8"
	case !json.Valid(src):
		code = api.CodeMalformedJSON
	}
	field := problem.Path
	if field == "" {
		field = "body"
	}
	return nil, refused(code, field, problem.Rule, hint)
}
