package check

import (
	"context"
	"maps"
	"slices"
	"sort"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Stream judges what watchers saw (CL-5): every stream, over all its connections to
// any nodes, is the log from where it began: in order, nothing twice, no gap, and no
// record that the log does not hold in the end, to the last byte of it. COMPACTED is
// an answer too: the stream goes on where it says.
type Stream struct{}

// Name implements Checker.
func (Stream) Name() string { return model.Stream }

// Check implements Checker.
func (c Stream) Check(_ context.Context, e *Evidence) Verdict {
	t := newTally(c.Name())
	for _, name := range []string{"streams", "records", "connections", "refused", "compacted"} {
		t.count(name, 0)
	}
	log := newFinalLog(e.Log)
	streams := make(map[string]*streamSeen)
	for _, op := range e.Of(model.Stream) {
		in, err := history.Decode[model.WatchIn](op.In)
		if err != nil {
			t.find(op.Called, []uint64{op.ID}, "operation %d cannot be read: %v", op.ID, err)
			continue
		}
		s := streams[op.Key]
		if s == nil {
			s = &streamSeen{name: op.Key, kinds: in.Kinds, connections: make(map[int]connection), compacted: make(map[uint64]bool)}
			streams[op.Key] = s
		}
		s.connection(t, &op, in)
	}
	for i := range e.Seen {
		seen := &e.Seen[i]
		if s := streams[seen.Stream]; s != nil {
			s.record(t, log, named(seen))
		} else {
			t.find(seen.At, nil, "%s: nobody asked for it", seen.Stream)
		}
	}
	t.count("streams", len(streams))
	for _, name := range slices.Sorted(maps.Keys(streams)) {
		streams[name].ends(t, log)
	}
	switch {
	case len(e.Log) == 0:
		t.doubt(0, nil, "the log is not known")
	case t.verdict.Figures["records"] == 0:
		t.doubt(0, nil, "nobody saw a record")
	}
	return t.end()
}

// finalLog is the log as it was in the end.
type finalLog struct {
	records []api.Record
	first   uint64 // busSeq of the first of them
}

func newFinalLog(records []api.Record) *finalLog {
	l := &finalLog{records: records}
	if len(records) > 0 {
		l.first = records[0].BusSeq
	}
	return l
}

// from is the first record from a busSeq on that is of the kinds; nil when there is
// none. No kinds are all.
func (l *finalLog) from(seq uint64, kinds []string) *api.Record {
	at := sort.Search(len(l.records), func(i int) bool { return l.records[i].BusSeq >= seq })
	for ; at < len(l.records); at++ {
		if len(kinds) == 0 || slices.Contains(kinds, l.records[at].Kind) {
			return &l.records[at]
		}
	}
	return nil
}

// streamSeen is one stream as it is gone through.
type streamSeen struct {
	name        string
	kinds       []string
	connections map[int]connection
	compacted   map[uint64]bool // where it was told that the log begins
	began       bool
	next        uint64 // the busSeq from which on it must go on
	last        *history.Seen
	target      uint64 // that it was to reach in the end
	reach       uint64 // the operation that was to reach it
	broken      bool   // a finding was made: what follows from it is not told
}

type connection struct {
	op   uint64
	from uint64
}

// connection takes down what was asked for, and where a node said that the log
// begins.
func (s *streamSeen) connection(t *tally, op *history.Op, in model.WatchIn) {
	t.count("connections", 1)
	s.connections[in.Connection] = connection{op: op.ID, from: in.From}
	if op.Name == model.Reach {
		s.target, s.reach = in.Target, op.ID
		if op.Outcome != history.Ok {
			t.find(op.Returned, []uint64{op.ID}, "%s: record %d was not seen in the end, when all was well: %s", s.name, in.Target, op.Error)
		}
	}
	if op.Outcome != history.Failed {
		return
	}
	t.count("refused", 1)
	if op.Code == "COMPACTED" {
		t.count("compacted", 1)
		out, err := history.Decode[model.WatchOut](op.Out)
		if err != nil {
			t.find(op.Returned, []uint64{op.ID}, "operation %d cannot be read: %v", op.ID, err)
		}
		s.compacted[out.First] = true
		return
	}
	if info, known := api.Lookup(op.Code); known && !info.Retry && op.Code != api.CodeInternal {
		t.find(op.Returned, []uint64{op.ID}, "%s: what it asks for makes no sense to %s: %s %s", s.name, op.Node, op.Code, op.Error)
	}
}

// named says who gave a record; whoever uses the client does not know.
func named(seen *history.Seen) *history.Seen {
	if seen.Node != "" {
		return seen
	}
	by := *seen
	by.Node = "a node"
	return &by
}

func (s *streamSeen) record(t *tally, log *finalLog, seen *history.Seen) {
	t.count("records", seen.Records())
	asked, known := s.connections[seen.Connection]
	ids := []uint64{asked.op}
	switch {
	case s.broken:
		return
	case !known:
		t.find(seen.At, nil, "%s: record %d came over connection %d, which nobody made", s.name, seen.Seq, seen.Connection)
		s.broken = true
		return
	case s.last == nil || s.last.Connection != seen.Connection:
		s.begins(t, asked)
	}
	s.broken = true
	expected := log.from(s.next, s.kinds)
	switch {
	case s.last != nil && seen.Seq == s.last.Through():
		t.find(seen.At, ids, "%s: record %d came twice, from %s and %s", s.name, seen.Seq, s.last.Node, seen.Node)
	case s.last != nil && seen.Seq < s.last.Through():
		t.find(seen.At, ids, "%s: record %d came after record %d (%s)", s.name, seen.Seq, s.last.Through(), seen.Node)
	case s.began && seen.Seq < s.next:
		t.find(seen.At, ids, "%s: record %d came, and it was asked for from %d on (%s)", s.name, seen.Seq, s.next, seen.Node)
	case len(log.records) > 0 && (expected == nil || seen.Through() > log.records[len(log.records)-1].BusSeq):
		t.find(seen.At, ids, "%s: %s gave record %d, and the log does not hold it in the end", s.name, seen.Node, seen.Through())
	case s.began && expected != nil && seen.Seq > expected.BusSeq && expected.BusSeq >= log.first && s.next >= log.first:
		t.find(seen.At, ids, "%s: there is a gap: record %d should have come, and %s gave record %d", s.name, expected.BusSeq, seen.Node, seen.Seq)
	default:
		s.broken = !s.same(t, log, seen, ids)
	}
	s.began, s.next, s.last = true, seen.Through()+1, seen
}

// begins moves to where a connection began. A stream that goes on asks for what
// follows its last record, unless it was told that this was archived.
func (s *streamSeen) begins(t *tally, asked connection) {
	if asked.from <= s.next {
		return
	}
	if s.began && !s.compacted[asked.from] {
		t.find(0, []uint64{asked.op}, "%s: it went on at record %d, and had seen those before %d only", s.name, asked.from, s.next)
	}
	s.began, s.next = true, asked.from
}

// same compares what came with the log's records.
func (s *streamSeen) same(t *tally, log *finalLog, seen *history.Seen, ids []uint64) bool {
	if seen.Seq < log.first {
		t.count("not in the log any more", seen.Records())
		return true
	}
	if len(log.records) == 0 {
		return true // it is not known
	}
	var (
		sum   model.RecordSum
		held  *api.Record
		count int
	)
	for seq := seen.Seq; seq <= seen.Through(); seq = held.BusSeq + 1 {
		r := log.from(seq, s.kinds)
		if r == nil || r.BusSeq > seen.Through() {
			break
		}
		sum.Add(r)
		held, count = r, count+1
	}
	switch {
	case held == nil, held.BusSeq != seen.Through():
		t.find(seen.At, ids, "%s: %s gave record %d, and the log has no such record of the kinds asked for", s.name, seen.Node, seen.Through())
	case count > seen.Records():
		t.find(seen.At, ids, "%s: there is a gap: of the records from %d to %d, %d should have come, and %s gave %d",
			s.name, seen.Seq, seen.Through(), count, seen.Node, seen.Records())
	case count < seen.Records():
		t.find(seen.At, ids, "%s: of the records from %d to %d, %d should have come, and %s gave %d",
			s.name, seen.Seq, seen.Through(), count, seen.Node, seen.Records())
	case held.Index != seen.Index || sum.String() != seen.Sum:
		t.find(seen.At, ids, "%s: what %s gave as the records from %d to %d is not what the log holds in the end", s.name, seen.Node, seen.Seq, seen.Through())
	default:
		return true
	}
	return false
}

// ends: the stream came to the record that it was to reach.
func (s *streamSeen) ends(t *tally, log *finalLog) {
	if s.broken || s.target == 0 || s.last != nil && s.last.Through() >= s.target {
		return
	}
	if expected := log.from(s.next, s.kinds); expected != nil && expected.BusSeq <= s.target {
		t.find(0, []uint64{s.reach}, "%s: it should have come to record %d in the end", s.name, s.target)
	}
}
