package budgets

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/value"
)

func (a Amounts) appendTo(dst []byte) []byte {
	return bus.AppendUint(bus.AppendUint(dst, a.Tokens), a.USDMicros)
}

func amounts(d *bus.Decoder) Amounts { return Amounts{Tokens: d.Uint(), USDMicros: d.Uint()} }

func (l *Limits) appendTo(dst []byte) []byte {
	dst = bus.AppendUint(dst, l.Tokens)
	dst = bus.AppendUint(dst, l.USDMicros)
	dst = bus.AppendInt(dst, l.WallMillis)
	return bus.AppendUint(dst, uint64(l.WarnPercent))
}

func limits(d *bus.Decoder) Limits {
	return Limits{Tokens: d.Uint(), USDMicros: d.Uint(), WallMillis: d.Int(), WarnPercent: d.Uint32()}
}

// Opened is the body of BudgetOpened: the record's agent holds an account.
type Opened struct {
	Above  uint32 // the account that is charged too; 0 for none
	Limits Limits
}

// AppendTo writes the body's log form.
func (b *Opened) AppendTo(dst []byte) []byte {
	return b.Limits.appendTo(bus.AppendUint(dst, uint64(b.Above)))
}

// DecodeOpened reads the body of BudgetOpened.
func DecodeOpened(raw []byte) (*Opened, bool) {
	d := bus.NewDecoder(raw)
	b := &Opened{Above: d.Uint32(), Limits: limits(d)}
	return b, d.Done()
}

// Changed is the body of BudgetChanged: an operator gave the account other limits.
type Changed struct {
	Limits Limits
	Reason string
}

// AppendTo writes the body's log form.
func (b *Changed) AppendTo(dst []byte) []byte {
	return bus.AppendText(b.Limits.appendTo(dst), b.Reason)
}

// DecodeChanged reads the body of BudgetChanged.
func DecodeChanged(raw []byte) (*Changed, bool) {
	d := bus.NewDecoder(raw)
	b := &Changed{Limits: limits(d), Reason: d.Text()}
	return b, d.Done()
}

// Reserved is the body of BudgetReserved: a call may come to so much, in the
// account and in those above it.
type Reserved struct {
	Call     uint32
	Account  uint32
	Cost     Amounts
	Started  bool
	Deadline int64
}

// AppendTo writes the body's log form.
func (b *Reserved) AppendTo(dst []byte) []byte {
	dst = bus.AppendUint(dst, uint64(b.Call))
	dst = bus.AppendUint(dst, uint64(b.Account))
	dst = b.Cost.appendTo(dst)
	return bus.AppendInt(bus.AppendBool(dst, b.Started), b.Deadline)
}

// DecodeReserved reads the body of BudgetReserved.
func DecodeReserved(raw []byte) (*Reserved, bool) {
	d := bus.NewDecoder(raw)
	b := &Reserved{Call: d.Uint32(), Account: d.Uint32(), Cost: amounts(d), Started: d.Bool(), Deadline: d.Int()}
	return b, d.Done()
}

// Waiting is the body of BudgetWaiting: an authorised call waits until there is
// room for it.
type Waiting struct {
	Call       uint32
	Account    uint32 // that has no room
	Tool       string
	Args       value.Raw
	Resource   string
	Idempotent bool
	Cost       Amounts
	Deadline   int64
	Timer      uint64
	Revision   uint64 // of a registered tool; 0 for one that is built in
}

// AppendTo writes the body's log form.
func (b *Waiting) AppendTo(dst []byte) []byte {
	dst = bus.AppendUint(dst, uint64(b.Call))
	dst = bus.AppendUint(dst, uint64(b.Account))
	dst = bus.AppendText(dst, b.Tool)
	dst = bus.AppendText(dst, b.Args)
	dst = bus.AppendText(dst, b.Resource)
	dst = b.Cost.appendTo(bus.AppendBool(dst, b.Idempotent))
	return bus.AppendUint(bus.AppendUint(bus.AppendInt(dst, b.Deadline), b.Timer), b.Revision)
}

// DecodeWaiting reads the body of BudgetWaiting.
func DecodeWaiting(raw []byte) (*Waiting, bool) {
	d := bus.NewDecoder(raw)
	b := &Waiting{
		Call: d.Uint32(), Account: d.Uint32(), Tool: d.Text(), Args: d.Bytes(), Resource: d.Text(), Idempotent: d.Bool(),
		Cost: amounts(d), Deadline: d.Int(), Timer: d.Uint(), Revision: d.Uint(),
	}
	return b, d.Done()
}

// Blocked is the body of BudgetBlocked: the first that waits in an account was
// looked at, and there is no room for it yet in the one named, which may be
// another.
type Blocked struct {
	Call    uint32
	Account uint32
}

// AppendTo writes the body's log form.
func (b *Blocked) AppendTo(dst []byte) []byte {
	return bus.AppendUint(bus.AppendUint(dst, uint64(b.Call)), uint64(b.Account))
}

// DecodeBlocked reads the body of BudgetBlocked.
func DecodeBlocked(raw []byte) (*Blocked, bool) {
	d := bus.NewDecoder(raw)
	b := &Blocked{Call: d.Uint32(), Account: d.Uint32()}
	return b, d.Done()
}

// How says on what grounds a reservation was settled. Numbers are part of the log
// format.
type How uint8

// The grounds.
const (
	Reported How = iota + 1 // by what the tool said
	Assumed                 // at the maximum: it was, or may have been, called, and said nothing
	Returned                // at nothing: it was not called
)

var howNames = [...]string{"", "reported", "assumed", "returned"}

// String names the grounds.
func (h How) String() string {
	if int(h) < len(howNames) {
		return howNames[h]
	}
	return "unknown"
}

// Settled is the body of BudgetSettled: what a call came to.
type Settled struct {
	Call uint32
	Used Amounts
	How  How
}

// AppendTo writes the body's log form.
func (b *Settled) AppendTo(dst []byte) []byte {
	return append(b.Used.appendTo(bus.AppendUint(dst, uint64(b.Call))), byte(b.How))
}

// DecodeSettled reads the body of BudgetSettled.
func DecodeSettled(raw []byte) (*Settled, bool) {
	d := bus.NewDecoder(raw)
	b := &Settled{Call: d.Uint32(), Used: amounts(d), How: How(d.Byte())}
	return b, d.Done()
}

// Outlived is the body of BudgetOutlived: nobody waits for a call any more that
// may have been made, and its reservation stays until its deadline.
type Outlived struct {
	Call  uint32
	Timer uint64
}

// AppendTo writes the body's log form.
func (b *Outlived) AppendTo(dst []byte) []byte {
	return bus.AppendUint(bus.AppendUint(dst, uint64(b.Call)), b.Timer)
}

// DecodeOutlived reads the body of BudgetOutlived.
func DecodeOutlived(raw []byte) (*Outlived, bool) {
	d := bus.NewDecoder(raw)
	b := &Outlived{Call: d.Uint32(), Timer: d.Uint()}
	return b, d.Done()
}

// Overrun is the body of BudgetOverrun: a call came to more than it had declared.
type Overrun struct {
	Call   uint32
	Beyond Amounts
}

// AppendTo writes the body's log form.
func (b *Overrun) AppendTo(dst []byte) []byte {
	return b.Beyond.appendTo(bus.AppendUint(dst, uint64(b.Call)))
}

// DecodeOverrun reads the body of BudgetOverrun.
func DecodeOverrun(raw []byte) (*Overrun, bool) {
	d := bus.NewDecoder(raw)
	b := &Overrun{Call: d.Uint32(), Beyond: amounts(d)}
	return b, d.Done()
}

// Mark is the body of BudgetWarning and BudgetExceeded: the account of the
// record's agent has come to a mark.
type Mark struct {
	Kind     Kind
	Limit    uint64
	Used     uint64 // settled, or time at work
	Reserved uint64
	Wanted   uint64 // by the call that there was no room for; 0 when it was none
}

// AppendTo writes the body's log form.
func (b *Mark) AppendTo(dst []byte) []byte {
	dst = bus.AppendUint(append(dst, byte(b.Kind)), b.Limit)
	return bus.AppendUint(bus.AppendUint(bus.AppendUint(dst, b.Used), b.Reserved), b.Wanted)
}

// DecodeMark reads the body of BudgetWarning and BudgetExceeded.
func DecodeMark(raw []byte) (*Mark, bool) {
	d := bus.NewDecoder(raw)
	b := &Mark{Kind: Kind(d.Byte()), Limit: d.Uint(), Used: d.Uint(), Reserved: d.Uint(), Wanted: d.Uint()}
	return b, d.Done()
}

// Clock is the body of BudgetClock: the agent's time at work goes on, or stops;
// or its next moment is another.
type Clock struct {
	Running  bool
	Deadline int64
	Timer    uint64 // 0 for no moment ahead
}

// AppendTo writes the body's log form.
func (b *Clock) AppendTo(dst []byte) []byte {
	return bus.AppendUint(bus.AppendInt(bus.AppendBool(dst, b.Running), b.Deadline), b.Timer)
}

// DecodeClock reads the body of BudgetClock.
func DecodeClock(raw []byte) (*Clock, bool) {
	d := bus.NewDecoder(raw)
	b := &Clock{Running: d.Bool(), Deadline: d.Int(), Timer: d.Uint()}
	return b, d.Done()
}
