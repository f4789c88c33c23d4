package edn

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

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
	if reads(l.op) {
		w.value(l.op, nil)
		w.bodyIn("in", l.op.In)
	} else {
		w.value(l.op, l.op.In)
	}
	w.identity(l.op)
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
	switch {
	case !reads(op):
		w.value(op, op.In)
		w.bodyIn("out", op.Out)
	case op.Outcome == history.Ok:
		w.value(op, op.Out)
	default:
		w.value(op, nil)
		w.bodyIn("out", op.Out)
	}
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

// reads tells whether the value of an operation is its answer.
func reads(op *history.Op) bool { return strings.HasPrefix(op.Name, "read") }

func (w *writer) value(op *history.Op, body json.RawMessage) {
	w.member("value")
	if op.Key == "" {
		w.text = appendValue(w.text, body)
		return
	}
	w.text = appendString(append(w.text, '['), op.Key)
	w.text = appendValue(append(w.text, ' '), body)
	w.text = append(w.text, ']')
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
