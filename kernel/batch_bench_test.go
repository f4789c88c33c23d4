package kernel_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
)

// batches prepares what a batch endpoint commits: requests of 64 definitions
// with a payload of 256 bytes, from 8 sessions in turn, whose every request
// gives up the answers of the one before it. It yields encoded events.
type batches struct {
	body []byte
	seqs [8]uint64
	next uint64
}

const batchSize = 64

func newBatches() *batches {
	return &batches{body: event.Encode(event.Define{
		Labels: map[string]string{"omni-bench": "018f4e5c-0000-7000-8000-000000000001"},
		Env:    map[string]string{"value": strings.Repeat("v", 256)},
	})}
}

// entry is the next event as the Raft log holds it.
func (b *batches) entry(wall int64) []byte {
	session := b.next / batchSize % uint64(len(b.seqs))
	b.next++
	done := b.seqs[session] / batchSize * batchSize
	b.seqs[session]++
	e := event.Event{Kind: event.AgentDefine, Wall: wall, Principal: "client", Proposal: b.next, Body: b.body}
	binary.BigEndian.PutUint64(e.Session.ID[:], uint64(kerneltest.Start)<<16)
	e.Session.ID[15] = byte(session + 1)
	e.Session.Seq, e.Session.Floor = b.seqs[session], done+1
	return e.Append(nil)
}

// commit decodes and applies one entry as the state machine does.
func (d *driver) commit(tb testing.TB, entry []byte) {
	e, err := event.Decode(entry)
	if err != nil {
		tb.Fatal(err)
	}
	d.index++
	if applied := d.k.Apply(d.index, 1, &e); !applied.Outcome.Done() {
		tb.Fatal(applied.Outcome.Refusal)
	}
}

// A command of a batch as it comes from the Raft log, published every 64.
func BenchmarkBatchCommand(b *testing.B) {
	d, source := newDriver(), newBatches()
	entries := make([][]byte, b.N)
	for i := range entries {
		entries[i] = source.entry(d.wall)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i, entry := range entries {
		d.commit(b, entry)
		if i%batchSize == batchSize-1 {
			d.k.Publish()
		}
	}
}

// What the leader asks of each command before it proposes it.
func BenchmarkReadable(b *testing.B) {
	e := event.Event{Kind: event.AgentDefine, Body: newBatches().body}
	b.ReportAllocs()
	for b.Loop() {
		if !kernel.Readable(&e) {
			b.Fatal("not readable")
		}
	}
}
