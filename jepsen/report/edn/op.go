package edn

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/omnikernel/omnikernel/jepsen/history"
)

func (w *writer) head(l *moment, kind string) {
	w.member("process")
	w.text = strconv.AppendInt(w.text, int64(l.process), 10)
	w.member("type")
	w.text = append(append(w.text, ':'), kind...)
	w.member("f")
	w.text = appendName(w.text, l.op.Name)
}

func (w *writer) invocation(l *moment) {
	w.head(l, "invoke")
	w.value(l.op, false)
	if isRegister(l.op) {
		w.bodyIn("in", l.op.In)
	}
	w.identity(l.op)
	if l.op.Sent != nil {
		w.words("event", l.op.Sent.Event)
	}
}

const unknown = "info"

// kindOf is what Jepsen calls an outcome.
func kindOf(op *history.Op) string {
	switch op.Outcome {
	case history.Ok:
		return "ok"
	case history.Failed:
		return "fail"
	}
	return unknown
}

func (w *writer) completion(l *moment) {
	op := l.op
	w.head(l, kindOf(op))
	w.value(op, op.Outcome == history.Ok)
	w.bodyIn("out", op.Out)
	w.identity(op)
	w.words("node", op.Node)
	w.number("raft-index", op.Index)
	w.number("bus-seq", op.Seq)
	w.words("code", op.Code)
	w.words("error", op.Error)
}

func (w *writer) identity(op *history.Op) {
	w.number("id", op.ID)
	w.words("workload", op.Workload)
	w.words("key", op.Key)
}

// The operations on a register, as Jepsen's checkers know them too.
const (
	read  = "read"
	write = "write"
	cas   = "cas"
)

// isRegister tells whether the value of an operation is a part of its bodies.
func isRegister(op *history.Op) bool { return op.Name == read || op.Name == write || op.Name == cas }

// value is what checkers look at.
func (w *writer) value(op *history.Op, answered bool) {
	w.member("value")
	if op.Key != "" {
		w.text = append(appendString(append(w.text, '['), op.Key), ' ')
		defer func() { w.text = append(w.text, ']') }()
	}
	switch op.Name {
	case read:
		if !answered {
			w.text = append(w.text, "nil"...)
			return
		}
		w.text = appendMember(w.text, op.Out, "value")
	case write:
		w.text = appendMember(w.text, op.In, "value")
	case cas:
		w.text = appendMember(append(w.text, '['), op.In, "from")
		w.text = appendMember(append(w.text, ' '), op.In, "value")
		w.text = append(w.text, ']')
	default:
		w.text = appendBody(w.text, op.In)
	}
}

func (w *writer) bodyIn(name string, body json.RawMessage) {
	if len(body) == 0 || bytes.Equal(body, []byte("null")) {
		return
	}
	w.member(name)
	w.text = appendBody(w.text, body)
}

func (w *writer) number(name string, n uint64) {
	if n != 0 {
		w.member(name)
		w.text = appendNumber(w.text, strconv.FormatUint(n, 10))
	}
}

func (w *writer) words(name, text string) {
	if text != "" {
		w.member(name)
		w.text = appendString(w.text, text)
	}
}
