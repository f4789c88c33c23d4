package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"
)

// Recorder writes a run down. It is safe for concurrent use.
type Recorder struct {
	began time.Time

	mu     sync.Mutex // guards what follows
	out    *bufio.Writer
	lines  *json.Encoder
	err    error // the first failure to write; nothing is written after it
	ops    uint64
	faults int
	open   map[uint64]*Op
	done   int64 // operations that were settled Ok
	closed bool
}

// NewRecorder begins a run. It writes to w, one JSON object a line.
func NewRecorder(w io.Writer) *Recorder {
	out := bufio.NewWriterSize(w, 256<<10)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	return &Recorder{began: time.Now(), out: out, lines: lines, open: make(map[uint64]*Op)}
}

// Now is the present time of the run.
func (r *Recorder) Now() int64 { return int64(time.Since(r.began)) }

// Began is when the run began, by the wall clock.
func (r *Recorder) Began() time.Time { return r.began }

// Done is how many operations have been settled Ok so far.
func (r *Recorder) Done() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done
}

// Call is an operation under way. One goroutine uses it.
type Call struct {
	recorder *Recorder
	op       *Op
}

// Call records that an operation is about to be sent. In is encoded as JSON.
func (r *Recorder) Call(process int, workload, name, key string, in any) *Call {
	op := &Op{Process: process, Workload: workload, Name: name, Key: key, In: encode(in)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ops++
	op.ID, op.Called = r.ops, r.Now()
	r.open[op.ID] = op
	return &Call{recorder: r, op: op}
}

// From tells who answered, and where in the log the answer stands. It returns the
// call.
func (c *Call) From(node string, index, seq uint64) *Call {
	c.op.Node, c.op.Index, c.op.Seq = node, index, seq
	return c
}

// Sends tells which command is about to be sent. It returns the call.
func (c *Call) Sends(event string, body any) *Call {
	c.op.Sent = &Sent{Event: event, Body: encode(body)}
	return c
}

// Ok settles it: it has happened, and out is what was answered.
func (c *Call) Ok(out any) {
	c.op.Out = encode(out)
	c.recorder.settle(c.op, Ok)
}

// Fail settles it: it has not happened and will not. Out may say more.
func (c *Call) Fail(code, sentence string, out any) {
	c.op.Code, c.op.Error, c.op.Out = code, sentence, encode(out)
	c.recorder.settle(c.op, Failed)
}

// Unknown settles it: nobody can say whether it has happened.
func (c *Call) Unknown(code, sentence string) {
	c.op.Code, c.op.Error = code, sentence
	c.recorder.settle(c.op, Unknown)
}

func (r *Recorder) settle(op *Op, outcome Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open[op.ID] != op {
		panic("history: an operation was settled twice")
	}
	delete(r.open, op.ID)
	op.Outcome, op.Returned = outcome, r.Now()
	if outcome == Ok {
		r.done++
	}
	r.write(Line{Op: op})
}

// Inject records that a fault begins, and gives it its number.
func (r *Recorder) Inject(kind string, nodes []string, detail map[string]any) *Fault {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults++
	return &Fault{ID: r.faults, Kind: kind, Nodes: nodes, Detail: detail, From: r.Now()}
}

// Injected records that the fault is there, or why it is not.
func (r *Recorder) Injected(f *Fault, err error) {
	f.Took, f.Error = r.Now()-f.From, sentence(err)
	r.add(Line{Fault: f})
}

// Healed records that the fault is over, or why it is not.
func (r *Recorder) Healed(f *Fault, err error) {
	f.Until = r.Now()
	if err != nil {
		f.Error = sentence(err)
	}
	r.add(Line{Fault: f})
}

// Sight records what was seen of a node, now.
func (r *Recorder) Sight(s Sight) { s.At = r.Now(); r.add(Line{Sight: &s}) }

// Life records a turn in the life of a node's process, now.
func (r *Recorder) Life(l Life) { l.At = r.Now(); r.add(Line{Life: &l}) }

// Seen records what came over a stream, now.
func (r *Recorder) Seen(s Seen) { s.At = r.Now(); r.add(Line{Seen: &s}) }

// Hit records a request to the counting service, now.
func (r *Recorder) Hit(h Hit) { h.At = r.Now(); r.add(Line{Hit: &h}) }

// Phase records that a part of the run begins, now.
func (r *Recorder) Phase(name string) { r.add(Line{Phase: &Phase{At: r.Now(), Name: name}}) }

func (r *Recorder) add(l Line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.write(l)
}

// write needs the lock.
func (r *Recorder) write(l Line) {
	switch {
	case r.err != nil:
	case r.closed:
		r.err = errors.New("history: something was recorded after the end")
	default:
		r.err = r.lines.Encode(l)
	}
}

// Flush makes what was recorded so far readable.
func (r *Recorder) Flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = r.out.Flush()
	}
	return r.err
}

// NotSettled is the error of an operation that nobody settled.
const NotSettled = "the run ended before the answer"

// Close settles what is still under way as Unknown, and writes what is left. It
// returns the first failure of the whole recording: a history with a hole must
// not be judged.
func (r *Recorder) Close() error {
	r.mu.Lock()
	for id := uint64(1); id <= r.ops && len(r.open) > 0; id++ {
		if op := r.open[id]; op != nil {
			delete(r.open, id)
			op.Outcome, op.Returned, op.Error = Unknown, r.Now(), NotSettled
			r.write(Line{Op: op})
		}
	}
	r.closed = true
	r.mu.Unlock()
	return r.Flush()
}

func encode(body any) json.RawMessage {
	if body == nil {
		return nil
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		panic("history: a body that is no JSON: " + err.Error())
	}
	return encoded
}

func sentence(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
