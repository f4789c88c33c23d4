package evaluator

import (
	"bytes"

	"github.com/omnikernel/omnikernel/kernel/value"
)

// restore fills a new tick from a checkpoint. It answers false on bytes that
// AppendCheckpoint cannot have written for this program: what was read must
// also give the same bytes when it is written again, so every store has one
// checkpoint.
func (t *tick) restore(checkpoint []byte) bool {
	rd := value.NewReader(checkpoint)
	parts, ok := rd.ReadListHeader()
	if !ok || parts < 3 {
		return false
	}
	if version, ok := rd.ReadInt(); !ok || version != checkpointVersion {
		return false
	}
	at, ok := rd.ReadInt()
	if !ok || at < 0 || at >= int64(len(t.program.nodes)) || !t.program.nodes[at].op.leaves() {
		return false
	}
	t.at = int32(at)
	running := t.running()
	if parts != 3+uint64(len(running)) || !t.restoreVariables(&rd) {
		return false
	}
	for _, at := range running {
		if !t.restoreFrame(&rd, at) {
			return false
		}
	}
	if !rd.Empty() || t.store > t.maxStore {
		return false
	}
	t.scratch = t.AppendCheckpoint(t.scratch[:0])
	return bytes.Equal(t.scratch, checkpoint)
}

// running are the instructions around the current one that have a frame,
// outermost first.
func (t *tick) running() []int32 {
	var around [MaxNesting]int32
	first := len(around)
	for at := t.node().parent; at != none; at = t.program.nodes[at].parent {
		switch t.program.nodes[at].op {
		case opMap, opLoop, opDelegate:
			first--
			around[first] = at
		}
	}
	return append([]int32(nil), around[first:]...)
}

func (t *tick) restoreVariables(rd *value.Reader) bool {
	count, ok := rd.ReadListHeader()
	if !ok {
		return false
	}
	for ; count >= 2; count -= 2 {
		slot, ok := rd.ReadInt()
		if !ok || slot < 0 || slot >= int64(len(t.vars)) {
			return false
		}
		if t.vars[slot].raw = t.restoreValue(rd); !t.vars[slot].set() {
			return false
		}
	}
	return count == 0
}

// restoreValue reads one value and counts it in the store; nil if it is none.
func (t *tick) restoreValue(rd *value.Reader) value.Raw {
	raw := rd.Skip()
	if raw == nil || value.Check(raw, int(t.maxValue)+answerSlack) != nil {
		return nil
	}
	t.store += int64(len(raw))
	return raw
}

// restoreFrame reads what appendTo wrote of a frame.
func (t *tick) restoreFrame(rd *value.Reader, at int32) bool {
	n, f := &t.program.nodes[at], frame{at: at}
	parts, ok := rd.ReadListHeader()
	switch {
	case !ok:
	case n.op == opMap:
		ok = parts == 4 && t.restoreItems(rd, &f)
	case n.op == opLoop:
		var round int64
		round, ok = rd.ReadInt()
		f.done = uint64(round)
		ok = ok && parts == 2 && round >= 1 && f.done <= n.rounds
	default:
		var number int64
		number, ok = rd.ReadInt()
		f.escalation = uint64(number)
		ok = ok && parts == 2 && number >= 0
	}
	if !ok || n.op != opLoop && !t.restoreOutside(rd, n.name, &f.saved[0]) ||
		n.op != opDelegate && !t.restoreOutside(rd, n.index, &f.saved[1]) {
		return false
	}
	t.frames = append(t.frames, f)
	return true
}

// restoreItems reads what a running MAP has left and has done.
func (t *tick) restoreItems(rd *value.Reader, f *frame) bool {
	rest, left, ok := t.restoreList(rd)
	if !ok {
		return false
	}
	f.rest, f.left = value.NewReader(rest), left
	results, done, ok := t.restoreList(rd)
	f.results, f.done = results, done
	return ok && left+done < MaxMapItems
}

// restoreOutside reads what a variable of a frame was outside: a list of one
// value or none.
func (t *tick) restoreOutside(rd *value.Reader, slot int32, saved *cell) bool {
	outside, count, ok := t.restoreList(rd)
	switch {
	case !ok || count > 1:
		return false
	case slot == none:
		return count == 0
	case count == 1:
		saved.raw = outside
	}
	return t.vars[slot].set() // bound as long as the frame is there
}

// restoreList reads a list and returns its items' bytes and their number.
func (t *tick) restoreList(rd *value.Reader) (items value.Raw, count uint64, ok bool) {
	count, ok = rd.ReadListHeader()
	if !ok {
		return nil, 0, false
	}
	before := rd.Rest()
	for range count {
		if t.restoreValue(rd) == nil {
			return nil, 0, false
		}
	}
	n := len(before) - len(rd.Rest())
	return before[:n:n], count, true
}
