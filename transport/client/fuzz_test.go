package client

import (
	"bytes"
	"errors"
	"testing"

	"github.com/omnikernel/omnikernel/transport/api"
)

// FuzzStream: whatever a server sends as a stream is read in order and ends, and
// no record comes twice.
func FuzzStream(f *testing.F) {
	for _, stream := range []string{
		"id: 1\nevent: open\ndata: {\"from\":2,\"node\":\"n1\"}\n\n: heartbeat\nid: 2\n\nid: 3\nevent: record\ndata: {\"bus_seq\":3}\n\n",
		"event: error\ndata: {\"code\":\"COMPACTED\"}\n\n", "data\ndata:x\ndata: y\n\n", "id: x\r\n\r\n", "event: record\ndata: {\"bus_seq\":1}\n\nevent: record\ndata: {\"bus_seq\":1}\n\n",
	} {
		f.Add([]byte(stream))
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		c, err := New([]string{"http://127.0.0.1:1"}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		var last uint64
		w := &watching{client: c}
		w.record = func(r *api.Record) bool {
			if r.BusSeq <= last {
				t.Fatalf("%q: record %d came after %d", stream, r.BusSeq, last)
			}
			last = r.BusSeq
			return true
		}
		events := newFrames(bytes.NewReader(stream))
		for {
			frame, dispatched, err := events.next()
			if err != nil {
				return
			}
			if dispatched && w.frame(&frame) != nil {
				return
			}
		}
	})
}

// FuzzSaid: what a server says instead of an answer is the API's error, or
// strange; it is never taken for a definite word that is not there.
func FuzzSaid(f *testing.F) {
	f.Add(409, []byte(`{"code":"NOT_FOUND","definite":true,"message":"no"}`))
	f.Add(502, []byte("<html>bad gateway</html>"))
	f.Add(500, []byte(`{"definite":true}`))
	f.Add(503, []byte(`{"code":"NEWER_THAN_US","definite":false}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		err := saidBy(&server{name: "n"}, status, body)
		var said *api.Error
		if errors.As(err, &said) {
			if said.Code == "" || said.Definite && !bytes.Contains(body, []byte("true")) {
				t.Fatalf("%d %q was taken for %+v", status, body, said)
			}
		} else if Definite(err) {
			t.Fatalf("%d %q is definite", status, body)
		}
	})
}
