package logproof

import (
	"encoding/hex"
	"fmt"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/logging"
)

// Proof is what a node answers and a file holds, as JSON. Hashes are hex.
type Proof struct {
	ClusterID string `json:"cluster_id"`
	KernelID  string `json:"kernel_id"`
	BusSeq    uint64 `json:"bus_seq" doc:"the record that is proven"`

	Block []byte `json:"block" doc:"the block that holds it, base64"`

	Number uint64   `json:"number" doc:"of that block in the log, from 0"`
	Size   uint64   `json:"size" doc:"blocks that the tree is over"`
	Before string   `json:"before" doc:"root over the size and the peaks before the block's own"`
	Path   []string `json:"path" doc:"siblings, from the block up to its peak"`
	After  []string `json:"after" doc:"peaks after the block's own"`

	Head  []byte `json:"head" doc:"the block that has the tree's root on record, base64"`
	Index uint64 `json:"index" doc:"Raft index of that block"`
	Chain string `json:"chain" doc:"the log's chain value after that block"`
}

// New puts a proof together. block and head are whole blocks.
func New(clusterID, kernelID string, seq uint64, block, head []byte, p *logging.Proof) (*Proof, error) {
	last, err := logging.Decode(head)
	if err != nil {
		return nil, fmt.Errorf("log proof: %w", err)
	}
	chain := last.Chain()
	out := &Proof{
		ClusterID: clusterID, KernelID: kernelID, BusSeq: seq, Block: block, Number: p.Leaf, Size: p.Size,
		Before: Text(p.Before), Path: texts(p.Path), After: texts(p.After), Head: head, Index: last.Index, Chain: Text(chain),
	}
	return out, nil
}

// SizeOf is the number of blocks that the root on record in a block is over.
func SizeOf(head *logging.Block) (uint64, error) {
	if said := rootOn(head); said != nil {
		return said.Size, nil
	}
	return 0, &Wrong{"head", "has no root on record"}
}

// Wrong says which part of a proof does not hold.
type Wrong struct {
	Field string // as in the JSON
	Rule  string
}

// Error names the field and the rule.
func (w *Wrong) Error() string { return "log proof: " + w.Field + ": " + w.Rule }

// Check follows the proof from the record to the chain value, and gives the
// record's block. What it cannot tell is whether the chain value is the
// cluster's: compare it. The error is a *Wrong.
func Check(p *Proof) (*logging.Block, error) {
	block, err := logging.Decode(p.Block)
	if err != nil {
		return nil, &Wrong{"block", "is no whole block: " + err.Error()}
	}
	if p.BusSeq < block.FirstSeq || p.BusSeq > block.LastSeq() {
		return nil, &Wrong{"bus_seq", fmt.Sprintf("is not in the block, which holds the records %d to %d", block.FirstSeq, block.LastSeq())}
	}
	head, err := logging.Decode(p.Head)
	if err != nil {
		return nil, &Wrong{"head", "is no whole block: " + err.Error()}
	}
	said := rootOn(&head)
	if said == nil {
		return nil, &Wrong{"head", "has no root on record"}
	}
	way := logging.Proof{Leaf: p.Number, Size: p.Size}
	ok := false
	if way.Before, ok = hash(p.Before); !ok {
		return nil, &Wrong{"before", "must be 64 hex digits"}
	}
	if way.Path, ok = hashes(p.Path); !ok {
		return nil, &Wrong{"path", "must be hashes of 64 hex digits each"}
	}
	if way.After, ok = hashes(p.After); !ok {
		return nil, &Wrong{"after", "must be hashes of 64 hex digits each"}
	}
	root, ok := way.Root(block.Digest())
	switch chain := head.Chain(); {
	case !ok:
		return nil, &Wrong{"path", "does not fit the number of the block and the size of the tree"}
	case p.Size != said.Size:
		return nil, &Wrong{"size", fmt.Sprintf("is not that of the root on record, %d", said.Size)}
	case root != said.Root:
		return nil, &Wrong{"path", "does not lead to the root on record"}
	case p.Index != head.Index:
		return nil, &Wrong{"index", fmt.Sprintf("is not that of head, %d", head.Index)}
	case p.Chain != Text(chain):
		return nil, &Wrong{"chain", "is not the chain value after head, " + Text(chain)}
	}
	return &block, nil
}

// rootOn finds the TREE_HEAD record of a block; nil when it has none.
func rootOn(b *logging.Block) *logging.TreeHead {
	for records := b.Records(); records.Next(); {
		if bus.Kind(records.Record.Kind) != bus.TreeHead {
			continue
		}
		if body, ok := kernel.DecodeRecordBody(bus.TreeHead, records.Record.Body); ok {
			return body.(*logging.TreeHead)
		}
	}
	return nil
}

// Text writes a hash as proofs hold it: 64 hex digits.
func Text(h [logging.HashBytes]byte) string { return hex.EncodeToString(h[:]) }

func texts(list [][logging.HashBytes]byte) []string {
	out := make([]string, 0, len(list))
	for _, h := range list {
		out = append(out, Text(h))
	}
	return out
}

func hash(s string) (h [logging.HashBytes]byte, ok bool) {
	if len(s) != 2*len(h) {
		return h, false
	}
	_, err := hex.Decode(h[:], []byte(s))
	return h, err == nil
}

func hashes(list []string) (out [][logging.HashBytes]byte, ok bool) {
	for _, s := range list {
		h, ok := hash(s)
		if !ok {
			return nil, false
		}
		out = append(out, h)
	}
	return out, true
}
