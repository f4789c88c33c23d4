package edn

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"strconv"

	"github.com/omnikernel/omnikernel/jepsen/history"
)

// Write writes all operations, faults and phases of a history.
func Write(w io.Writer, h *history.History) error {
	out := &writer{out: bufio.NewWriterSize(w, 256<<10)}
	for _, l := range linesOf(h) {
		out.line(&l)
		if _, err := out.out.Write(out.text); err != nil {
			return err
		}
		out.index++
	}
	return out.out.Flush()
}

// moment is a line to be: when it was and whose it is.
type moment struct {
	at      int64
	order   int // at one time: what ends comes before what begins, but for one thing's own end
	id      uint64
	op      *history.Op
	process int
	done    bool
	other   *happened
}

// linesOf brings everything into the order of time.
func linesOf(h *history.History) []moment {
	lines := make([]moment, 0, 2*len(h.Ops)+4*len(h.Faults)+2*len(h.Phases))
	processes := processesOf(h.Ops)
	for i := range h.Ops {
		op := &h.Ops[i]
		begin := moment{at: op.Called, order: 1, id: op.ID, op: op, process: processes[i]}
		end := begin
		end.at, end.order, end.done = max(op.Called, op.Returned), 0, true
		if end.at == begin.at {
			end.order = 1
		}
		lines = append(lines, begin, end)
	}
	for _, other := range happenedIn(h) {
		lines = append(lines, moment{at: other.at, id: other.id, other: &other})
	}
	slices.SortStableFunc(lines, func(a, b moment) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order), cmp.Compare(a.id, b.id))
	})
	return lines
}

// writer writes one line after the other, into the same memory.
type writer struct {
	out   *bufio.Writer
	index int
	text  []byte
}

func (w *writer) line(l *moment) {
	w.text = append(w.text[:0], '{')
	switch {
	case l.other != nil:
		w.happened(l.other)
	case l.done:
		w.completion(l)
	default:
		w.invocation(l)
	}
	w.member("index")
	w.text = strconv.AppendInt(w.text, int64(w.index), 10)
	w.member("time")
	w.text = strconv.AppendInt(w.text, l.at, 10)
	w.text = append(w.text, "}\n"...)
}

// member begins a member of the line, after the others.
func (w *writer) member(name string) {
	if len(w.text) > 1 {
		w.text = append(w.text, ", "...)
	}
	w.text = append(w.text, ':')
	w.text = append(w.text, name...)
	w.text = append(w.text, ' ')
}

func (w *writer) happened(h *happened) {
	w.member("process")
	w.text = append(append(w.text, ':'), h.process...)
	w.member("type")
	w.text = append(w.text, ":info"...)
	w.member("f")
	w.text = appendName(w.text, h.f)
	w.member("value")
	w.text = appendBody(w.text, h.value)
}
