package tools

import (
	"cmp"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/table"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Key identifies a call for ever (TO-4).
type Key struct {
	_     struct{} `cbor:",toarray"`
	Agent uint32
	Tick  uint64
	Call  uint32 // callIndex within the tick, from 1
}

// Call is one entry of the outbox: authorised, not resolved. Entries are
// replaced, never changed in place.
type Call struct {
	_          struct{} `cbor:",toarray"`
	Key        Key
	Tool       string
	Args       value.Raw
	Resource   string
	Idempotent bool
	Deadline   int64  // kernel clock, Unix milliseconds
	Timer      uint64 // id of the deadline's timer
	Requested  uint64 // busSeq of the request
	Dispatched uint64 // busSeq of the dispatch; 0 before, and always for idempotent tools
	Node       string // who dispatched it
	Term       uint64 // … in which term
	Revision   uint64 // of a registered tool, which the call keeps until it ends; 0 for one that is built in
	At         int64  // kernel clock when it was requested, Unix milliseconds
}

// Tables is the module's state.
type Tables struct {
	outbox    table.Sorted[Key, *Call]
	revisions table.Sorted[revisionNo, Revision]
	names     table.Sorted[toolName, revisionNo] // of registered tools
}

// Compare orders calls by agent, tick and call.
func (k Key) Compare(other Key) int {
	if c := cmp.Compare(k.Agent, other.Agent); c != 0 {
		return c
	}
	if c := cmp.Compare(k.Tick, other.Tick); c != 0 {
		return c
	}
	return cmp.Compare(k.Call, other.Call)
}

// Publish returns an immutable copy.
func (t *Tables) Publish() Tables {
	return Tables{outbox: t.outbox.Publish(), revisions: t.revisions.Publish(), names: t.names.Publish()}
}

// Get finds a call.
func (t *Tables) Get(k Key) (*Call, bool) { return t.outbox.Get(k) }

// Len is the number of unresolved calls.
func (t *Tables) Len() int { return t.outbox.Len() }

// All yields the calls in order of their keys.
func (t *Tables) All(yield func(*Call) bool) {
	t.outbox.All(func(_ Key, c *Call) bool { return yield(c) })
}

// AllFrom yields the calls from a key on, in order of their keys.
func (t *Tables) AllFrom(k Key, yield func(*Call) bool) {
	t.outbox.From(k, func(_ Key, c *Call) bool { return yield(c) })
}

// OfAgent yields the agent's unresolved calls.
func (t *Tables) OfAgent(agent uint32, yield func(*Call) bool) {
	t.outbox.From(Key{Agent: agent}, func(_ Key, c *Call) bool {
		return c.Key.Agent == agent && yield(c)
	})
}

// Load puts a call back from a snapshot.
func (t *Tables) Load(c *Call) { t.outbox.Set(c.Key, c) }

// RequestedBody is the body of CallRequested.
type RequestedBody struct {
	Call       uint32
	Tool       string
	Args       value.Raw
	Resource   string
	Idempotent bool
	Deadline   int64
	Timer      uint64
	Revision   uint64 // of a registered tool; 0 for one that is built in
}

// AppendTo writes the body's log form.
func (b *RequestedBody) AppendTo(dst []byte) []byte {
	dst = bus.AppendUint(dst, uint64(b.Call))
	dst = bus.AppendText(dst, b.Tool)
	dst = bus.AppendText(dst, b.Args)
	dst = bus.AppendText(dst, b.Resource)
	dst = bus.AppendBool(dst, b.Idempotent)
	dst = bus.AppendInt(dst, b.Deadline)
	return bus.AppendUint(bus.AppendUint(dst, b.Timer), b.Revision)
}

// DecodeRequested reads the body of CallRequested.
func DecodeRequested(raw []byte) (*RequestedBody, bool) {
	d := bus.NewDecoder(raw)
	b := &RequestedBody{
		Call: d.Uint32(), Tool: d.Text(), Args: d.Bytes(), Resource: d.Text(), Idempotent: d.Bool(),
		Deadline: d.Int(), Timer: d.Uint(), Revision: d.Uint(),
	}
	return b, d.Done()
}

// ApplyRequested adds the call.
func (t *Tables) ApplyRequested(agent uint32, tick uint64, at bus.At, b *RequestedBody) {
	t.Load(&Call{
		Key: Key{Agent: agent, Tick: tick, Call: b.Call}, Tool: b.Tool, Args: append(value.Raw(nil), b.Args...),
		Resource: b.Resource, Idempotent: b.Idempotent, Deadline: b.Deadline, Timer: b.Timer, Requested: at.Seq, Revision: b.Revision,
		At: at.Now,
	})
	if b.Revision != 0 {
		t.use(b.Revision, true)
	}
}

// DispatchedBody is the body of CallDispatched.
type DispatchedBody struct {
	Call uint32
	Node string
	Term uint64
}

// AppendTo writes the body's log form.
func (b *DispatchedBody) AppendTo(dst []byte) []byte {
	dst = bus.AppendUint(dst, uint64(b.Call))
	dst = bus.AppendText(dst, b.Node)
	return bus.AppendUint(dst, b.Term)
}

// DecodeDispatched reads the body of CallDispatched.
func DecodeDispatched(raw []byte) (*DispatchedBody, bool) {
	d := bus.NewDecoder(raw)
	b := &DispatchedBody{Call: d.Uint32(), Node: d.Text(), Term: d.Uint()}
	return b, d.Done()
}

// ApplyDispatched notes who runs the call.
func (t *Tables) ApplyDispatched(agent uint32, tick uint64, at bus.At, b *DispatchedBody) {
	found, ok := t.Get(Key{Agent: agent, Tick: tick, Call: b.Call})
	if !ok {
		return
	}
	dup := *found
	dup.Dispatched, dup.Node, dup.Term = at.Seq, b.Node, b.Term
	t.Load(&dup)
}

// ActionBody is the body of ActionExecuted and ActionFailed. The value itself
// stands in ResultDelivered.
type ActionBody struct {
	Call    uint32
	Tool    string
	Code    failure.Code // empty when executed
	Message string
	Millis  int64 // how long the adapter took, as its runner measured; 0 for kernel tools
	Usage   Usage
}

// Usage is what a call cost, as the tool said.
type Usage struct {
	Metered   bool // it said so
	Tokens    uint64
	USDMicros uint64
}

func (u Usage) appendTo(dst []byte) []byte {
	dst = bus.AppendBool(dst, u.Metered)
	if u.Metered {
		dst = bus.AppendUint(bus.AppendUint(dst, u.Tokens), u.USDMicros)
	}
	return dst
}

func usage(d *bus.Decoder) (u Usage) {
	if u.Metered = d.Bool(); u.Metered {
		u.Tokens, u.USDMicros = d.Uint(), d.Uint()
	}
	return u
}

// AppendTo writes the body's log form.
func (b *ActionBody) AppendTo(dst []byte) []byte {
	dst = bus.AppendUint(dst, uint64(b.Call))
	dst = bus.AppendText(dst, b.Tool)
	dst = bus.AppendText(dst, b.Code)
	dst = bus.AppendText(dst, b.Message)
	return b.Usage.appendTo(bus.AppendInt(dst, b.Millis))
}

// DecodeAction reads the body of ActionExecuted and ActionFailed.
func DecodeAction(raw []byte) (*ActionBody, bool) {
	d := bus.NewDecoder(raw)
	b := &ActionBody{
		Call: d.Uint32(), Tool: d.Text(), Code: failure.Code(d.Text()), Message: d.Text(), Millis: d.Int(),
		Usage: usage(d),
	}
	return b, d.Done()
}

// ApplyAction resolves the call, if the outbox had it.
func (t *Tables) ApplyAction(agent uint32, tick uint64, b *ActionBody) {
	key := Key{Agent: agent, Tick: tick, Call: b.Call}
	if call, ok := t.Get(key); ok {
		t.outbox.Delete(key)
		if call.Revision != 0 {
			t.use(call.Revision, false)
		}
	}
}

// StaleBody is the body of StaleResult: a result that came too late or twice
// (LC-9).
type StaleBody struct {
	Call  uint32
	OK    bool
	Usage Usage
}

// AppendTo writes the body's log form.
func (b *StaleBody) AppendTo(dst []byte) []byte {
	return b.Usage.appendTo(bus.AppendBool(bus.AppendUint(dst, uint64(b.Call)), b.OK))
}

// DecodeStale reads the body of StaleResult.
func DecodeStale(raw []byte) (*StaleBody, bool) {
	d := bus.NewDecoder(raw)
	b := &StaleBody{Call: d.Uint32(), OK: d.Bool(), Usage: usage(d)}
	return b, d.Done()
}
