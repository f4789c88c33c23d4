package raftstream

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"
)

// FuzzRequests: whatever a peer sends on an accepted stream, every whole request
// is answered, and the stream ends with the first that is none.
func FuzzRequests(f *testing.F) {
	f.Add(appendRequest(nil, 3, 1000, []byte("body")), true)
	f.Add(append(appendRequest(nil, 0, 0, nil), appendRequest(nil, 255, 1<<31, make([]byte, 100))...), false)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0}, true)
	f.Add([]byte{0, 0, 0, 4, 1, 2, 3, 4}, false)
	k := fuzzed(f)
	back := func(_ context.Context, _ string, kind byte, body, _ []byte) ([]byte, error) {
		return append([]byte{kind}, body...), nil
	}
	k.Peers().Answer(back)
	k.History().Answer(back)
	f.Fuzz(func(t *testing.T, sent []byte, history bool) {
		p := k.Peers()
		if history {
			p = k.History()
		}
		ours, theirs := net.Pipe()
		done := make(chan struct{}, 2)
		go func() {
			p.serve(p.streams.add(theirs, "peer", nil))
			done <- struct{}{}
		}()
		go func() {
			_, _ = ours.Write(sent) // it may be cut off
			done <- struct{}{}
		}()
		want := answersTo(sent, fuzzedFrame)
		got := make([]byte, len(want))
		if _, err := io.ReadFull(ours, got); err != nil || !bytes.Equal(want, got) {
			t.Fatalf("%q was answered %q, not %q: %v", sent, got, want, err)
		}
		_ = ours.Close()
		<-done
		<-done
	})
}

// fuzzedFrame bounds frames, so that large ones are small.
const fuzzedFrame = 1 << 10

func fuzzed(f *testing.F) *Kernel {
	endpoint, err := Listen(Options{Listen: "127.0.0.1:0", ClusterID: "c", NodeID: "n", Limits: Limits{FrameBytes: fuzzedFrame, Handshake: time.Minute}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = endpoint.Close() })
	k, err := endpoint.Kernel("k")
	if err != nil {
		f.Fatal(err)
	}
	return k
}

// answersTo is what comes back for all whole requests up to the first that is
// none: their kind and body, or that this is too large.
func answersTo(sent []byte, most int) (answers []byte) {
	for len(sent) >= lengthBytes {
		length := int(binary.BigEndian.Uint32(sent))
		if length < requestHead || length > requestHead+most || length > len(sent)-lengthBytes {
			break
		}
		request := sent[lengthBytes : lengthBytes+length]
		status, body := statusOK, append([]byte{request[0]}, request[requestHead:]...)
		if len(body) > most {
			status, body = statusError, []byte("an answer of 1025 bytes: "+ErrFrameTooLarge.Error())
		}
		answers = append(answerHeader(answers, status, body), body...)
		sent = sent[lengthBytes+length:]
	}
	return answers
}

// FuzzReceive: whatever a peer answers, the caller takes a whole answer within
// its bound, or refuses it.
func FuzzReceive(f *testing.F) {
	f.Add(append(answerHeader(nil, statusOK, []byte("body")), "body"...), 0)
	f.Add(append(answerHeader(nil, statusError, []byte("no")), "no"...), 10)
	f.Add([]byte{0, 0, 0, 0}, 0)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0}, 1)
	p := fuzzed(f).Peers()
	f.Fuzz(func(t *testing.T, sent []byte, room int) {
		ours, theirs := net.Pipe()
		go func() {
			_, _ = theirs.Write(sent)
			_ = theirs.Close()
		}()
		s := p.streams.add(ours, "peer", nil)
		defer func() { _ = s.Close() }()
		status, body, err := p.receive(s, make([]byte, 0, min(max(room, 0), 2*fuzzedFrame)))
		if err != nil {
			return
		}
		if again := append(answerHeader(nil, status, body), body...); !bytes.HasPrefix(sent, again) || len(body) > fuzzedFrame {
			t.Fatalf("%q was taken for %d %q", sent, status, body)
		}
	})
}
