package traffic

import (
	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
	"github.com/omnikernel/omnikernel/transport/api"
)

// longestRun is how many records are written down at once.
const longestRun = 200

// run is records that came one right after the other over one connection: the log
// comes over every stream, and a line for each record would be most of the history.
// Whatever is out of the ordinary ends the run, so that it is written down as it was.
type run struct {
	record *history.Recorder
	whole  bool         // all records are watched, so that one follows the other by number
	of     history.Seen // of which stream
	now    history.Seen
	sum    model.RecordSum
}

func (r *run) add(record *api.Record) {
	seq := record.BusSeq
	if r.now.Count >= longestRun || seq <= r.now.Last || r.whole && seq != r.now.Last+1 {
		r.flush()
	}
	if r.now.Count == 0 {
		r.now, r.sum = r.of, model.RecordSum{}
		r.now.Seq = seq
	}
	r.now.Count++
	r.now.Last, r.now.Index = seq, record.Index
	r.sum.Add(record)
}

// flush writes down what there is.
func (r *run) flush() {
	if r.now.Count == 0 {
		return
	}
	r.now.Sum = r.sum.String()
	if r.now.Count == 1 {
		r.now.Count, r.now.Last = 0, 0
	}
	r.record.Seen(r.now)
	r.now = history.Seen{}
}
