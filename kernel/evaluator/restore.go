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
	if !ok || at < 0 || at >= int64(len(t.program.nodes)) || t.program.nodes[at].op != opCall {
		return false
	}
	t.at = int32(at)
	running := t.runningMaps()
	if parts != 3+4*uint64(len(running)) || !t.restoreVariables(&rd) {
		return false
	}
	for _, n := range running {
		if !t.restoreMapping(&rd, n) {
			return false
		}
	}
	if !rd.Empty() || t.store > t.maxStore {
		return false
	}
	t.scratch = t.AppendCheckpoint(t.scratch[:0])
	return bytes.Equal(t.scratch, checkpoint)
}

// runningMaps are the MAPs around the current instruction, outermost first.
func (t *tick) runningMaps() []*node {
	var around [MaxNesting]*node
	first := len(around)
	for at := t.node().parent; at != none; at = t.program.nodes[at].parent {
		if n := &t.program.nodes[at]; n.op == opMap {
			first--
			around[first] = n
		}
	}
	return append([]*node(nil), around[first:]...)
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

func (t *tick) restoreMapping(rd *value.Reader, n *node) bool {
	var m mapping
	rest, left, ok := t.restoreList(rd)
	if !ok {
		return false
	}
	m.rest, m.left = value.NewReader(rest), left
	if m.results, m.done, ok = t.restoreList(rd); !ok || m.left+m.done >= MaxMapItems {
		return false
	}
	for i, slot := range [...]int32{n.name, n.index} {
		outside, count, ok := t.restoreList(rd)
		if !ok || count > 1 {
			return false
		}
		if slot == none {
			if count > 0 {
				return false
			}
			continue
		}
		if !t.vars[slot].set() { // bound as long as the MAP runs
			return false
		}
		if count == 1 {
			m.saved[i].raw = outside
		}
	}
	t.maps = append(t.maps, m)
	return true
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
