package evaluator

import "github.com/omnikernel/omnikernel/kernel/value"

// checkpointVersion begins every checkpoint.
const checkpointVersion = 1

// What a checkpoint adds to the values it holds, in bytes at most. Heads grow
// with what they count, which MaxNodes, MaxVariables, MaxNesting and
// MaxMapItems bound.
const (
	checkpointHeads = 2 + 1 + 3 + 3 // outer list, version, node, list of variables
	variableHeads   = 3             // number of a variable
	mappingHeads    = 3 + 3 + 1 + 1 // its four lists
)

// checkpointOverhead bounds what a checkpoint of this program adds to the
// values it holds.
func (p *program) checkpointOverhead() int64 {
	return checkpointHeads + variableHeads*int64(len(p.names)) + mappingHeads*int64(p.maps)
}

// AppendCheckpoint appends the ephemeral store: the variables and what the
// running MAPs remember. It is a list in the encoding of package value,
//
//	[version, node, [number, value, …], mapping …]
//
// with the bound variables by ascending number, and the running MAPs outermost
// first, each
//
//	[rest of the items], [results], [as outside]?, [index outside]?
//
// where the last two lists are empty if nothing was bound. Which MAPs are
// running follows from the node, as every other frame does.
func (t *tick) AppendCheckpoint(dst []byte) []byte {
	dst = value.AppendListHeader(dst, 3+4*uint64(len(t.maps)))
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
	for i := range t.maps {
		dst = t.maps[i].appendTo(dst)
	}
	return dst
}

func (m *mapping) appendTo(dst []byte) []byte {
	dst = value.AppendListHeader(dst, m.left)
	dst = append(dst, m.rest.Rest()...)
	dst = value.AppendListHeader(dst, m.done)
	dst = append(dst, m.results...)
	for i := range m.saved {
		if !m.saved[i].set() {
			dst = value.AppendListHeader(dst, 0)
			continue
		}
		dst = value.AppendListHeader(dst, 1)
		dst = append(dst, m.saved[i].raw...)
	}
	return dst
}
