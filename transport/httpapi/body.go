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
)

// readBody reads a request's body as one strict JSON document of at most limit
// bytes, in canonical form. No body at all is an empty map. done gives back
// what the body took of the server's memory, and must be called.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request, limit int64) (raw value.Raw, done func(), e *api.Error) {
	length := r.ContentLength
	if length == 0 {
		return value.EmptyMap, func() {}, nil
	}
	if length > limit {
		return nil, func() {}, tooLarge(limit)
	}
	if e := checkType(r); e != nil {
		return nil, func() {}, e
	}
	if length < 0 {
		length = limit // a chunked body: as much as it may become
	}
	if s.bodies.Add(length) > s.options.MaxBodyBytes {
		s.bodies.Add(-length)
		return nil, func() {}, refused(api.CodeTooManyRequests, "", "the node works on as many bytes of requests as it takes", "send it again a little later")
	}
	done = func() { s.bodies.Add(-length) }
	src, e := readAll(w, r, limit)
	if e == nil {
		raw, e = strict(src, limit)
	}
	return raw, done, e
}

func tooLarge(limit int64) *api.Error {
	return refused(api.CodeTooLarge, "body", "must be at most "+strconv.FormatInt(limit, 10)+" bytes", "")
}

// checkType accepts JSON in UTF-8 only. A form, which a browser would send to
// anybody, is no command.
func checkType(r *http.Request) *api.Error {
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

func readAll(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, *api.Error) {
	size := r.ContentLength
	if size < 0 {
		size = 4 << 10
	}
	src := make([]byte, 0, size+1) // one more, so that the end is seen without growing
	body := http.MaxBytesReader(w, r.Body, limit)
	for {
		if len(src) == cap(src) {
			src = append(src, 0)[:len(src)]
		}
		n, err := body.Read(src[len(src):cap(src)])
		src = src[:len(src)+n]
		switch large := (*http.MaxBytesError)(nil); {
		case err == nil:
		case errors.Is(err, io.EOF):
			return src, nil
		case errors.As(err, &large):
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
