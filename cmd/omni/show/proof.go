package show

import "github.com/omnikernel/omnikernel/cmd/omni/tell"

// ProvenRecord is what a proof shows that holds.
type ProvenRecord struct {
	ClusterID string `json:"cluster_id"`
	KernelID  string `json:"kernel_id"`
	BusSeq    uint64 `json:"bus_seq"`
	Kind      string `json:"kind"`
	Index     uint64 `json:"index"` // of its event
	AtMillis  int64  `json:"at_ms"`
	Blocks    uint64 `json:"blocks"`     // that the root is over
	HeadIndex uint64 `json:"head_index"` // of the Checkpoint that recorded it
	Chain     string `json:"chain"`      // after that
	Compared  bool   `json:"compared"`   // with a chain value that was given, or with the cluster's log
}

// Proven shows it.
func Proven(p *tell.Page, r ProvenRecord) {
	p.Line("%s: %s, busSeq %d, of the event at index %d, %s, is in the log of %s",
		p.Good("the proof holds"), r.Kind, r.BusSeq, r.Index, when(r.AtMillis), r.ClusterID+"/"+r.KernelID)
	p.Line("the log of %d blocks that the Checkpoint at index %d is over; chain value after it %s", r.Blocks, r.HeadIndex, r.Chain)
	if !r.Compared {
		p.Line("%s", p.Warn("that this is the cluster's chain value was not compared: see --chain and --live"))
	}
}
