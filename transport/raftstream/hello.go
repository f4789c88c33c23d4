package raftstream

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Version of the handshake and of the peer frames.
const Version = 1

var magic = [4]byte{'O', 'M', 'N', 'I'}

// StreamKind says what a stream carries.
type StreamKind byte

// The kinds of streams. Numbers are part of the protocol: append only.
const (
	StreamRaft    StreamKind = 1 // the Raft library's own protocol
	StreamPeer    StreamKind = 2 // requests and answers, see frame.go
	StreamHistory StreamKind = 3 // the same, for what is large and can wait
)

// hello opens a stream.
//
//	caller:   magic[4] version[1] kind[1] length[2] body[length]
//	          body: cluster, kernel, node, each length[1] bytes; then the same of the
//	          lineage, where it is not empty
//	acceptor: magic[4] version[1] code[1] length[1] node[length]
//
// Numbers are big-endian. The version stands before everything that may ever
// change, and the acceptor names its own in every answer.
type hello struct {
	kind    StreamKind
	cluster string
	kernel  string
	node    string
	lineage string
}

// maxHelloBody is three ids and a lineage with their lengths.
const maxHelloBody = 3*(1+MaxID) + 1 + MaxLineage

// helloHead is the fixed part in front of the body.
const helloHead = 8

// errMalformed is a hello that is none.
var errMalformed = errors.New("malformed handshake")

// unknownVersion is a caller that speaks another version of the handshake.
type unknownVersion byte

func (v unknownVersion) Error() string {
	return fmt.Sprintf("handshake version %d, this node speaks %d", byte(v), Version)
}

func (h hello) encode() []byte {
	out := append(make([]byte, 0, helloHead+maxHelloBody), magic[:]...)
	out = append(out, Version, byte(h.kind), 0, 0)
	for _, id := range []string{h.cluster, h.kernel, h.node} {
		out = append(append(out, byte(len(id))), id...)
	}
	if h.lineage != "" {
		out = append(append(out, byte(len(h.lineage))), h.lineage...)
	}
	binary.BigEndian.PutUint16(out[6:], uint16(len(out)-helloHead))
	return out
}

// readHello reads at most helloHead + maxHelloBody bytes. The error is
// errMalformed, unknownVersion or the reader's.
func readHello(r io.Reader) (hello, error) {
	var buffer [helloHead + maxHelloBody]byte
	head := buffer[:helloHead]
	if _, err := io.ReadFull(r, head); err != nil {
		return hello{}, err
	}
	if [4]byte(head[:4]) != magic {
		return hello{}, errMalformed
	}
	if head[4] != Version {
		return hello{}, unknownVersion(head[4])
	}
	length := int(binary.BigEndian.Uint16(head[6:]))
	if length > maxHelloBody {
		return hello{}, errMalformed
	}
	body := buffer[helloHead : helloHead+length]
	if _, err := io.ReadFull(r, body); err != nil {
		return hello{}, err
	}
	h := hello{kind: StreamKind(head[5])}
	whole := true
	for _, id := range []*string{&h.cluster, &h.kernel, &h.node} {
		*id, body, whole = cut(body, MaxID)
		if !whole {
			return hello{}, errMalformed
		}
	}
	if len(body) > 0 {
		h.lineage, body, whole = cut(body, MaxLineage)
		whole = whole && isLineage(h.lineage)
	}
	if len(body) > 0 || !whole {
		return hello{}, errMalformed
	}
	return h, nil
}

// cut takes a text of 1 to most bytes from the front of a body.
func cut(body []byte, most int) (text string, rest []byte, ok bool) {
	if len(body) == 0 || len(body) < 1+int(body[0]) || body[0] == 0 || int(body[0]) > most {
		return "", nil, false
	}
	end := 1 + int(body[0])
	return string(body[1:end]), body[end:], true
}

// answer ends the handshake.
type answer struct {
	version byte
	code    RefusalCode
	node    string
}

func (a answer) encode() []byte {
	out := append(make([]byte, 0, 7+len(a.node)), magic[:]...)
	out = append(out, a.version, byte(a.code), byte(len(a.node)))
	return append(out, a.node...)
}

func readAnswer(r io.Reader) (answer, error) {
	var buffer [7 + MaxID]byte
	head := buffer[:7]
	if _, err := io.ReadFull(r, head); err != nil {
		return answer{}, err
	}
	if [4]byte(head[:4]) != magic || head[6] > MaxID {
		return answer{}, errMalformed
	}
	node := buffer[7 : 7+head[6]]
	if _, err := io.ReadFull(r, node); err != nil {
		return answer{}, err
	}
	return answer{version: head[4], code: RefusalCode(head[5]), node: string(node)}, nil
}
