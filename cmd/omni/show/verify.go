package show

import (
	"fmt"
	"strings"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
)

// VerifiedLog is what the verification of a log found. Agree and Differ name the
// nodes whose running digest is, or is not, the chain value at the same index; a
// log that moves on all the time leaves both empty. The others are about the
// nodes' manifests of sealed segments.
type VerifiedLog struct {
	logexport.Summary
	Heads          uint64   `json:"tree_heads"`
	Agree          []string `json:"nodes_agree,omitempty"`
	Differ         []string `json:"nodes_differ,omitempty"`
	Segments       int      `json:"segments,omitempty"`
	SegmentsAgree  []string `json:"segments_agree,omitempty"`
	SegmentsDiffer []string `json:"segments_differ,omitempty"`

	End uint64 `json:"-"` // position after the last block
}

// Verified shows a verified log and, when it was read from a cluster, what the
// nodes say of it.
func Verified(p *tell.Page, v *VerifiedLog, live bool) {
	Export(p, v.Summary)
	if v.Heads > 0 {
		p.Line("%d tree heads on record are those of the blocks before them", v.Heads)
	}
	if !live {
		return
	}
	switch {
	case len(v.Differ) > 0:
		p.Line("%s", p.Bad("not the digest of "+strings.Join(v.Differ, ", ")+" at this index"))
	case len(v.Agree) > 0:
		p.Line("the digest of %s at this index", strings.Join(v.Agree, ", "))
	default:
		p.Line("%s", p.Warn("the log moves on: its end was compared with no node"))
	}
	if len(v.SegmentsDiffer) > 0 {
		p.Line("%s", p.Bad("not the sealed segments of "+strings.Join(v.SegmentsDiffer, ", ")))
	}
	if len(v.SegmentsAgree) > 0 {
		p.Line("%d sealed segments, as in the manifests of %s", v.Segments, strings.Join(v.SegmentsAgree, ", "))
	}
}

// VerifiedAgent is what the verification of one agent's own chain found. Agree
// and Differ name the nodes that export the same history, or another one up to
// the same index.
type VerifiedAgent struct {
	Origin    string   `json:"origin"` // kind of file; of a live log too
	ClusterID string   `json:"cluster_id"`
	KernelID  string   `json:"kernel_id"`
	AgentID   string   `json:"agent_id"`
	Agent     uint32   `json:"agent"`         // its number in the log
	Position  uint64   `json:"position"`      // of the last block that touches it
	Head      string   `json:"head"`          // hex, its own chain value after that
	Blocks    uint64   `json:"blocks"`        // that touch it
	Bodies    uint64   `json:"bodies"`        // further blocks, for what they hold
	Bytes     uint64   `json:"bytes"`         // of all blocks
	FirstSeq  uint64   `json:"first_bus_seq"` // first record of the first block of the agent
	LastSeq   uint64   `json:"last_bus_seq"`  // last record of the last one
	LastIndex uint64   `json:"last_index"`    // Raft index of the last one
	Agree     []string `json:"nodes_agree,omitempty"`
	Differ    []string `json:"nodes_differ,omitempty"`
}

// OfAgent is what the verification of an agent's export found.
func OfAgent(s logexport.SubjectSummary) VerifiedAgent {
	return VerifiedAgent{
		Origin: "agent export", ClusterID: s.ClusterID, KernelID: s.KernelID, AgentID: s.AgentID, Agent: s.Agent, Position: s.Position, Head: s.Head,
		Blocks: s.Blocks, Bodies: s.Bodies, Bytes: s.Bytes, FirstSeq: s.FirstSeq, LastSeq: s.LastSeq, LastIndex: s.LastIndex,
	}
}

// AgentVerified shows it.
func AgentVerified(p *tell.Page, v *VerifiedAgent, live bool) {
	p.Line("%s: %d blocks from busSeq %d to %d, index %d, %s in all",
		p.Good("the agent's chain holds"), v.Blocks, v.FirstSeq, v.LastSeq, v.LastIndex, Bytes(v.Bytes))
	p.Line("%s", p.Faint(fmt.Sprintf("%s: agent %s of %s/%s, head %s", v.Origin, v.AgentID, v.ClusterID, v.KernelID, v.Head)))
	if !live {
		return
	}
	if len(v.Differ) > 0 {
		p.Line("%s", p.Bad("another one on "+strings.Join(v.Differ, ", ")))
	}
	if len(v.Agree) > 0 {
		p.Line("the same on %s", strings.Join(v.Agree, ", "))
	}
}
