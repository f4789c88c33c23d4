package kerneltest

import (
	"bytes"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/stretchr/testify/require"
)

// Record is a record read back from the log.
type Record struct {
	Name string
	logging.Record
	Content bus.Body // the body, decoded
}

// Records lists the records of the block at an index.
func (s *Sim) Records(index int) []Record {
	s.T.Helper()
	return Decode(s.T, s.Blocks[index-1])
}

// Last lists the records of the newest block.
func (s *Sim) Last() []Record {
	s.T.Helper()
	return s.Records(len(s.Blocks))
}

// All lists the records of the whole log.
func (s *Sim) All() []Record {
	s.T.Helper()
	var all []Record
	for i := range s.Blocks {
		all = append(all, s.Records(i+1)...)
	}
	return all
}

// Names lists only the names of the newest block's records.
func (s *Sim) Names() []string {
	s.T.Helper()
	var names []string
	for _, r := range s.Last() {
		names = append(names, r.Name)
	}
	return names
}

// Count is the number of records of a kind in the newest block.
func (s *Sim) Count(kind bus.Kind) int {
	s.T.Helper()
	n := 0
	for _, r := range s.Last() {
		if bus.Kind(r.Kind) == kind {
			n++
		}
	}
	return n
}

// Find returns the body of the first record of a kind in the newest block; the
// test fails without one.
func Find[T bus.Body](s *Sim, kind bus.Kind) T {
	s.T.Helper()
	for _, r := range s.Last() {
		if bus.Kind(r.Kind) == kind {
			return r.Content.(T)
		}
	}
	require.FailNow(s.T, "no record of this kind in the newest block", "%s in %v", kernel.KindName(kind), s.Names())
	panic("unreachable")
}

// Path lists the transitions in the newest block, each as its trigger's word.
func (s *Sim) Path() []string {
	s.T.Helper()
	var words []string
	for _, r := range s.Last() {
		if e, ok := r.Content.(*lifecycle.Event); ok {
			words = append(words, e.Trigger.String())
		}
	}
	return words
}

// Decode reads a block's records.
func Decode(t TB, raw []byte) []Record {
	t.Helper()
	block, err := logging.Decode(raw)
	require.NoError(t, err)
	var out []Record
	for records := block.Records(); records.Next(); {
		r := records.Record
		r.Body = bytes.Clone(r.Body)
		content, ok := kernel.DecodeRecordBody(bus.Kind(r.Kind), r.Body)
		require.True(t, ok, "the body of record %d does not decode", r.Seq)
		out = append(out, Record{Name: kernel.KindName(bus.Kind(r.Kind)), Record: r, Content: content})
	}
	return out
}
