package evaluator

import "github.com/omnikernel/omnikernel/kernel/value"

// checkpointVersion begins every checkpoint.
const checkpointVersion = 2

// What a checkpoint adds to the values it holds, in bytes at most. Heads grow
// with what they count, which MaxNodes, MaxVariables, MaxNesting and
// MaxMapItems bound.
const (
	checkpointHeads = 2 + 1 + 3 + 3 // outer list, version, node, list of variables
	variableHeads   = 3             // number of a variable
)

// checkpointOverhead bounds what a checkpoint of this program adds to the
// values it holds.
func (p *program) checkpointOverhead() int64 {
	return checkpointHeads + variableHeads*int64(len(p.names)) + p.frameHeads
}

// AppendCheckpoint appends the ephemeral store: the variables and what running
// instructions remember. It is a list in the encoding of package value,
//
//	[version, node, [number, value, …], frame …]
//
// with the bound variables by ascending number, and the frames outermost first.
// Which instructions have one follows from the node; see frame.
func (t *tick) AppendCheckpoint(dst []byte) []byte {
	dst = value.AppendListHeader(dst, 3+uint64(len(t.frames)))
	dst = value.AppendInt(dst, checkpointVersion)
	dst = value.AppendInt(dst, int64(t.at))
	var bound uint64
	for i := range t.vars {
		if t.vars[i].set() {
			bound++
		}
	}
	dst = value.AppendListHeader(dst, 2*bound)
	for i := range t.vars {
		if t.vars[i].set() {
			dst = value.AppendInt(dst, int64(i))
			dst = append(dst, t.vars[i].raw...)
		}
	}
	for i := range t.frames {
		f := &t.frames[i]
		dst = f.appendTo(dst, t.program.nodes[f.at].op)
	}
	return dst
}
