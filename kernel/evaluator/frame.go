package evaluator

import "github.com/omnikernel/omnikernel/kernel/value"

// frame is what a running instruction remembers beside which child is running:
// a MAP, a LOOP, and a DELEGATE whose handler runs. In a checkpoint they are
//
//	MAP       [[rest of the items], [results], [as outside], [index outside]]
//	LOOP      [number of the round from 1, [index outside]]
//	DELEGATE  [number of the escalation, [as outside]]
//
// where the lists of what a variable was outside are empty if it was unbound,
// or if the instruction has no such variable.
type frame struct {
	at    int32   // the instruction
	saved [2]cell // what its variables name and index were outside

	rest    value.Reader // MAP: items that have not begun
	left    uint64       // how many those are
	done    uint64       // MAP: items that have a result; LOOP: rounds that have begun
	results []byte       // MAP: of those, one after the other

	last       cell   // LOOP: value of the round that has ended; not needed while one runs
	escalation uint64 // DELEGATE
}

// What a frame adds to a checkpoint beside values, in bytes at most.
const (
	mapHeads     = 1 + 3 + 3 + 1 + 1
	loopHeads    = 1 + 5 + 1
	handlerHeads = 1 + 9 + 1
)

// push begins the frame of the current instruction and unbinds its variables.
// What they were goes on counting in the store.
func (t *tick) push(n *node) *frame {
	t.frames = append(t.frames, frame{at: t.at})
	f := t.top()
	for i, slot := range [...]int32{n.name, n.index} {
		if slot != none {
			f.saved[i] = t.vars[slot]
			t.vars[slot] = cell{}
		}
	}
	return f
}

// top is the innermost frame.
func (t *tick) top() *frame { return &t.frames[len(t.frames)-1] }

// pop ends the innermost frame: its variables are what they were before.
func (t *tick) pop() {
	f := t.top()
	n := &t.program.nodes[f.at]
	t.store -= int64(len(f.rest.Rest()) + len(f.results))
	for i, slot := range [...]int32{n.name, n.index} {
		if slot != none {
			t.store -= int64(len(t.vars[slot].raw))
			t.vars[slot] = f.saved[i]
		}
	}
	*f = frame{}
	t.frames = t.frames[:len(t.frames)-1]
}

// unwind ends the frames of all instructions inside one that the current
// instruction stands in. Nodes stand in preorder, so those are the ones after.
func (t *tick) unwind(at int32) {
	for len(t.frames) > 0 && t.top().at > at {
		t.pop()
	}
}

func (f *frame) appendTo(dst []byte, op opcode) []byte {
	switch op {
	case opMap:
		dst = value.AppendListHeader(dst, 4)
		dst = value.AppendListHeader(dst, f.left)
		dst = append(dst, f.rest.Rest()...)
		dst = value.AppendListHeader(dst, f.done)
		dst = append(dst, f.results...)
		return f.saved[1].appendOutside(f.saved[0].appendOutside(dst))
	case opLoop:
		dst = value.AppendListHeader(dst, 2)
		return f.saved[1].appendOutside(value.AppendInt(dst, int64(f.done)))
	}
	dst = value.AppendListHeader(dst, 2)
	return f.saved[0].appendOutside(value.AppendInt(dst, int64(f.escalation)))
}

func (c *cell) appendOutside(dst []byte) []byte {
	if !c.set() {
		return value.AppendListHeader(dst, 0)
	}
	return append(value.AppendListHeader(dst, 1), c.raw...)
}
