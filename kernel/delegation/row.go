package delegation

import "github.com/omnikernel/omnikernel/kernel/failure"

// Row is the module's part of an agent's row: its token, its place in the
// tree, and the request that made it.
type Row struct {
	_           struct{} `cbor:",toarray"`
	Parent      uint32   // 0: a root agent
	FirstChild  uint32
	LastChild   uint32
	NextSibling uint32
	Live        uint32 // children that are not TERMINATED

	Tick     uint64 // of the parent: with Call the request that made the agent
	Call     uint32
	Position uint32 // in it, from 0

	Token       uint64       // busSeq of the token's record; 0 before spawn
	Depth       uint32       // levels that may still be delegated
	Expires     int64        // kernel clock, Unix milliseconds; 0 for never
	Timer       uint64       // id of the expiry's timer; 0 for none
	Revoked     failure.Code // why the token is revoked; empty while it is not
	VoidBefore  uint64       // tokens of children issued before this busSeq are void
	ChildrenFor failure.Code // … for this reason
}

// Rows gives the delegation part of an agent's row, for reading; nil when there
// is no such agent.
type Rows func(no uint32) *Row

// InForce tells whether an agent's token holds at that moment of the kernel
// clock, by walking up; if not, why, and on whose account. The walk is as long
// as the tree is deep, which the configuration bounds.
func InForce(rows Rows, no uint32, nowMillis int64) (ok bool, code failure.Code, holder uint32) {
	for at := no; at != 0; {
		row := rows(at)
		switch {
		case row == nil || row.Token == 0:
			return false, failure.TokenRevoked, at
		case row.Revoked != "":
			return false, row.Revoked, at
		case row.Expires != 0 && nowMillis >= row.Expires:
			return false, failure.TokenExpired, at
		}
		if row.Parent == 0 {
			return true, "", 0
		}
		parent := parentOf(at, row)
		if over := rows(parent); over != nil && row.Token < over.VoidBefore {
			return false, over.ChildrenFor, parent
		}
		at = parent
	}
	return false, failure.TokenRevoked, no
}

// Root is the agent at the top of the tree.
func Root(rows Rows, no uint32) uint32 {
	for row := rows(no); row != nil && parentOf(no, row) != 0; row = rows(no) {
		no = row.Parent
	}
	return no
}

// HasLive reports whether the agent has children that are not TERMINATED, and
// has delegated since it last voided its children's tokens.
func HasLive(rows Rows, no uint32) bool {
	row := rows(no)
	if row == nil || row.Live == 0 {
		return false
	}
	last := rows(row.LastChild)
	return last != nil && last.Token > row.VoidBefore
}

// Children yields an agent's children, oldest first.
func Children(rows Rows, no uint32, yield func(child uint32) bool) {
	row := rows(no)
	if row == nil {
		return
	}
	at := row.FirstChild
	for row = child(rows, no, no, at); row != nil && yield(at); {
		last := at
		at = row.NextSibling
		row = child(rows, no, last, at)
	}
}

// IsAncestor reports whether above stands on the way from no to the root, or
// is no itself (INV-08).
func IsAncestor(rows Rows, above, no uint32) bool {
	for no != 0 {
		if no == above {
			return true
		}
		row := rows(no)
		if row == nil {
			return false
		}
		no = parentOf(no, row)
	}
	return false
}

// parentOf is the agent's parent, 0 when there is none. A parent's number is
// smaller than its children's, and theirs rise in order of issue: whatever the
// rows hold, a walk that keeps to that comes to an end.
func parentOf(no uint32, row *Row) uint32 {
	if row.Parent < no {
		return row.Parent
	}
	return 0
}

// child is the row of the agent that a link of the parent, or of its child
// after, leads to; nil when that is none of its further children.
func child(rows Rows, parent, after, no uint32) *Row {
	if no <= after {
		return nil
	}
	if row := rows(no); row != nil && row.Parent == parent {
		return row
	}
	return nil
}
