package main

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"slices"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
	"github.com/omnikernel/omnikernel/transport/client"
)

// manifests are the sealed segments as each node has them, while a log is read
// that they are compared with.
type manifests struct {
	nodes  []string
	of     map[string][]api.LogSegment
	points map[uint64]string // chain values of the log that was read, by position; empty until it was there
}

// manifestsOf asks every node that answers for its manifest, as it is.
func manifestsOf(ctx context.Context, connection *client.Client) (*manifests, error) {
	status, err := connection.Status(ctx)
	if err != nil {
		return nil, err
	}
	m := &manifests{of: make(map[string][]api.LogSegment), points: make(map[uint64]string)}
	for _, node := range status.Nodes {
		if node.Digest == "" {
			continue // it does not answer
		}
		page, err := connection.Segments(ctx, client.Node(node.ID), client.Consistency(api.Stale))
		if err != nil {
			return nil, err
		}
		m.nodes = append(m.nodes, node.ID)
		m.of[node.ID] = page.Segments
		for _, segment := range page.Segments {
			m.points[segment.Start], m.points[segment.Start+segment.Bytes] = "", ""
		}
	}
	slices.Sort(m.nodes)
	return m, nil
}

// at notes the chain value of the log at a position.
func (m *manifests) at(position uint64, chain [logging.HashBytes]byte) {
	if m == nil {
		return
	}
	if _, wanted := m.points[position]; wanted {
		m.points[position] = hex.EncodeToString(chain[:])
	}
}

// compare says which nodes' segments have the chain values of the log. What was
// sealed after the log was read is not compared.
func (m *manifests) compare(found *show.VerifiedLog) {
	if m == nil {
		return
	}
	for _, node := range m.nodes {
		compared, same := 0, true
		for _, segment := range m.of[node] {
			end := segment.Start + segment.Bytes
			if end > found.End {
				break
			}
			compared++
			same = same && m.points[segment.Start] == segment.ChainIn && m.points[end] == segment.ChainOut
		}
		found.Segments = max(found.Segments, compared)
		switch {
		case compared == 0:
		case same:
			found.SegmentsAgree = append(found.SegmentsAgree, node)
		default:
			found.SegmentsDiffer = append(found.SegmentsDiffer, node)
		}
	}
}

// errHead is a tree head that is not the log's.
var errHead = errors.New("a tree head on record is not that of the blocks before it")

// verifyLog reads an export to its end.
func (a *app) verifyLog(from io.Reader, nodes *manifests) (*show.VerifiedLog, error) {
	meter := a.tell.Meter()
	defer meter.Done()
	reader, err := logexport.NewReader(from)
	if err != nil {
		return nil, err
	}
	found := &show.VerifiedLog{}
	whole := reader.Summary().Genesis // the tree is known from the beginning on only
	var tree logging.Tree
	for {
		position, b, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		digest := b.Digest()
		nodes.at(position, b.PrevChain)
		if whole {
			if !heads(b, tree, found) {
				return nil, tell.NotHeld("%v: index %d", errHead, b.Index)
			}
			tree = tree.Append(digest)
		}
		found.End = position + uint64(len(b.Raw))
		nodes.at(found.End, logging.ChainAfter(b.PrevChain, digest))
		meter.Show("%s: %d blocks", show.Bytes(reader.Summary().Bytes), reader.Summary().Blocks)
	}
	found.Summary = reader.Summary()
	nodes.compare(found)
	return found, nil
}

// heads compares the tree heads in a block with the tree before it.
func heads(b *logging.Block, tree logging.Tree, found *show.VerifiedLog) bool {
	for records := b.Records(); records.Next(); {
		if bus.Kind(records.Record.Kind) != bus.TreeHead {
			continue
		}
		head, ok := logging.DecodeTreeHead(records.Record.Body)
		if !ok || *head != (logging.TreeHead{Size: tree.Size(), Root: tree.Root()}) {
			return false
		}
		found.Heads++
	}
	return true
}
