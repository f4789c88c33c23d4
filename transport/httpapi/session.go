package httpapi

import (
	"encoding/hex"
	"net/http"
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
)

// commandID is what makes a command one command, however often it is sent
// (CL-3): a session with a sequence and a floor, or a key, or nothing.
type commandID struct {
	session event.Session
	key     string
}

// identityOf reads the headers of one command.
func identityOf(h http.Header) (commandID, *api.Error) {
	id, e := sessionOf(h)
	if e != nil {
		return id, e
	}
	if id.session.Present() {
		if id.session.Seq, e = number(h, api.HeaderSequence); e != nil {
			return id, e
		}
		if id.session.Floor > id.session.Seq {
			return id, invalid(api.HeaderFloor, "must be at most the sequence", "")
		}
	} else if h.Get(api.HeaderSequence) != "" {
		return id, invalid(api.HeaderSequence, "goes with the header "+api.HeaderSession, "")
	}
	return id, nil
}

// sessionOf reads what a batch has too: everything but the sequence.
func sessionOf(h http.Header) (commandID, *api.Error) {
	var id commandID
	text, key := h.Get(api.HeaderSession), h.Get(api.HeaderKey)
	switch {
	case text != "" && key != "":
		return id, invalid(api.HeaderKey, "a command has a session or an idempotency key, not both", "")
	case key != "":
		id.key = key
		return id, checkKey(key)
	case text == "":
		if h.Get(api.HeaderFloor) != "" {
			return id, invalid(api.HeaderFloor, "goes with the header "+api.HeaderSession, "")
		}
		return id, nil
	}
	n, err := hex.Decode(id.session.ID[:], []byte(text)[:min(len(text), 32)])
	if err != nil || n != 16 || len(text) != 32 || !id.session.Present() {
		return id, invalid(api.HeaderSession, "must be the 32 hex digits of a session", "get one with POST …/sessions")
	}
	var e *api.Error
	id.session.Floor, e = number(h, api.HeaderFloor)
	return id, e
}

func checkKey(key string) *api.Error {
	if len(key) > api.MaxKeyBytes {
		return invalid(api.HeaderKey, "must be at most 256 bytes", "")
	}
	for i := range len(key) {
		if key[i] < 0x20 || key[i] > 0x7e {
			return invalid(api.HeaderKey, "must be printable ASCII", "")
		}
	}
	return nil
}

func number(h http.Header, name string) (uint64, *api.Error) {
	n, err := strconv.ParseUint(h.Get(name), 10, 64)
	if err != nil || n == 0 {
		return 0, invalid(name, "must be a whole number from 1, and goes with the header "+api.HeaderSession, "")
	}
	return n, nil
}

// mintSession serves POST …/sessions.
func (s *Server) mintSession(w http.ResponseWriter, r *http.Request) {
	body, done, e := s.readBody(w, r, api.MaxBodyBytes)
	defer done()
	if e == nil {
		e = eachField(body, "", func(f field) *api.Error { return f.unknown("none") })
	}
	if e != nil {
		s.fail(w, e)
		return
	}
	id := s.node.MintSession()
	writeJSON(w, http.StatusCreated, api.Session{Session: hex.EncodeToString(id[:]), Node: s.node.ID()})
}
