package kernel

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/omnikernel/omnikernel/kernel/audit"
	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/estop"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/principals"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/omnikernel/omnikernel/kernel/sessions"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// SnapshotFormat of Sections. No promise of compatibility before the first
// release.
const SnapshotFormat = 0

// Section is one bounded piece of a snapshot. Kinds come in the order of their
// numbers, and within a kind in the order of the table.
type Section struct {
	Kind byte
	Body []byte
}

// Log gives the execution log's tables, when the section is the one that holds
// them: the second of every snapshot. Whoever only wants to know where the log of
// a snapshot ends need not rebuild its state.
func (s Section) Log() (t logging.Tables, ok bool) {
	if s.Kind != sectionLog {
		return t, false
	}
	t, err := logging.DecodeSnapshot(s.Body)
	return t, err == nil
}

// Kinds of sections.
const (
	sectionRoot     byte = 1 // scalars and counters
	sectionLog      byte = 2 // logging.Tables
	sectionInterned byte = 3 // one per body
	sectionAgent    byte = 4 // one per agent, in order of their numbers
	sectionPlace    byte = 5 // one per queued tick
	sectionTimer    byte = 6
	sectionCall     byte = 7
	sectionSession  byte = 8
	sectionKey      byte = 9
	sectionCheck    byte = 10

	sectionMemory     byte = 11 // both scopes, in order of (agent, namespace, key)
	sectionDelegation byte = 12 // one per open delegation
	sectionCascade    byte = 13
	sectionEscalation byte = 14
	sectionAudit      byte = 15

	sectionAccount     byte = 16
	sectionReservation byte = 17
	sectionWaiter      byte = 18 // calls that wait for room in a budget
	sectionReady       byte = 19 // accounts whose first waiter is to be looked at

	sectionRun    byte = 20 // one per run, in order of their agents' numbers
	sectionLedger byte = 21 // … and where its part of the log ends

	sectionTool byte = 30 // one per revision of a registered tool, in order of their numbers

	sectionBootstrap  byte = 40 // only when authorization is on, as the next three
	sectionRole       byte = 41
	sectionPrincipal  byte = 42
	sectionCredential byte = 43

	sectionLogged byte = 50 // one per agent whose part of the log was counted: from version 2 on
)

// root holds what is not a row of some table.
type root struct {
	_            struct{} `cbor:",toarray"`
	Format       uint32
	Config       *config.Config
	Clock        int64
	Index        uint64
	Term         uint64
	InternedNext uint32
	PlaceNext    uint64
	Reserved     uint32
	TimerNext    uint64
	AuditCount   uint64
	Stop         *estop.Stop // nil while the kernel runs
}

// typicalRow is room for the row of most agents, in bytes.
const typicalRow = 224

// interned is one body and how many use it.
type interned struct {
	_      struct{} `cbor:",toarray"`
	No     uint32
	Class  interning.Class
	Users  uint32
	Digest interning.Digest
	Body   []byte
	Block  uint64 // pointer to the block that holds it
}

type place struct {
	_     struct{} `cbor:",toarray"`
	Place uint64
	Agent uint32
}

type check struct {
	_  struct{} `cbor:",toarray"`
	At int64
	ID [16]byte
}

// Sections yields a state piece by piece, canonically: equal states give equal
// bytes. It reads a published copy, so it may run beside Apply.
func Sections(s *state.State, yield func(Section) bool) {
	ok := yield(Section{sectionRoot, event.Encode(root{
		Format: SnapshotFormat, Config: s.Config, Clock: s.Clock, Index: s.Index, Term: s.Term,
		InternedNext: s.Interned.Next, PlaceNext: s.Running.Next, Reserved: s.Running.Reserved, TimerNext: s.Timers.Next, AuditCount: s.Audit.Count,
		Stop: s.Estop.Stop(),
	})})
	written := func(kind byte, body []byte) bool {
		ok = ok && yield(Section{kind, body})
		return ok
	}
	emit := func(kind byte, body any) bool { return ok && written(kind, event.Encode(body)) }
	if ok {
		ok = yield(Section{sectionLog, s.Log.AppendSnapshot(nil)})
	}
	s.Interned.All(func(e *interning.Entry, users uint32) bool {
		one := interned{No: e.No, Class: e.Class, Users: users, Digest: e.Digest, Body: e.Body, Block: e.Block}
		return written(sectionInterned, appendInterned(make([]byte, 0, len(e.Body)+64), &one))
	})
	for no := uint32(1); ok && no <= s.Agents.Len(); no++ {
		written(sectionAgent, appendRow(make([]byte, 0, typicalRow), s.Agents.Get(no)))
	}
	s.Running.All(func(at uint64, agent uint32) bool { return emit(sectionPlace, place{Place: at, Agent: agent}) })
	s.Timers.All(func(t timers.Timer) bool { return timerSection(t, emit) })
	s.Tools.All(func(c *tools.Call) bool { return emit(sectionCall, c) })
	s.Sessions.All(func(one *sessions.Session) bool { return emit(sectionSession, one) })
	s.Sessions.AllKeys(func(one *sessions.Keyed) bool { return emit(sectionKey, one) })
	s.Sessions.AllChecks(func(at int64, id [16]byte) bool { return emit(sectionCheck, check{At: at, ID: id}) })
	s.Memory.AllShared(func(e *memory.Entry) bool { return emit(sectionMemory, e) })
	s.Memory.All(func(e *memory.Entry) bool { return emit(sectionMemory, e) })
	s.Delegation.All(func(o *delegation.Open) bool { return emit(sectionDelegation, o) })
	s.Delegation.AllCascades(func(c *delegation.Cascade) bool { return emit(sectionCascade, c) })
	s.Escalations.All(func(e *permissions.Escalation) bool { return emit(sectionEscalation, e) })
	s.Audit.All(func(e *audit.Entry) bool { return emit(sectionAudit, e) })
	s.Budgets.All(func(a *budgets.Account) bool { return emit(sectionAccount, a) })
	s.Budgets.AllReserved(func(r *budgets.Reservation) bool { return emit(sectionReservation, r) })
	s.Budgets.AllWaiters(func(w *budgets.Waiter) bool { return emit(sectionWaiter, w) })
	s.Budgets.AllReady(func(agent uint32) bool { return emit(sectionReady, agent) })
	s.Runs.All(func(r *runs.Run) bool { return emit(sectionRun, r) })
	s.Runs.AllLedgers(func(l runs.Ledger) bool { return emit(sectionLedger, &l) })
	s.Tools.AllRevisions(func(r *tools.Revision) bool { return emit(sectionTool, r) })
	if b := s.Principals.Bootstrapped(); b != nil {
		emit(sectionBootstrap, b)
	}
	s.Principals.AllRoles("", func(r *principals.Role) bool { return emit(sectionRole, r) })
	s.Principals.AllPrincipals("", func(p *principals.Principal) bool { return emit(sectionPrincipal, p) })
	s.Principals.AllCredentials("", func(c *principals.Credential) bool { return emit(sectionCredential, c) })
	for no := uint32(1); ok && no <= s.Agents.Len(); no++ {
		if size := s.Agents.Get(no).Logged; size.Bytes > 0 {
			written(sectionLogged, appendLogged(make([]byte, 0, typicalLogged), no, size))
		}
	}
}

// Digest is the SHA-256 of a state's sections, each with its kind and length:
// what a snapshot's trailer carries (LO-3).
func Digest(s *state.State) [32]byte {
	h := NewDigester()
	Sections(s, func(one Section) bool {
		h.Add(one)
		return true
	})
	return h.Sum()
}

// Digester computes Digest from sections as they pass.
type Digester struct{ h hasher }

type hasher interface {
	Write([]byte) (int, error)
	Sum([]byte) []byte
}

// NewDigester starts a digest.
func NewDigester() *Digester { return &Digester{sha256.New()} }

// Add takes the next section in.
func (d *Digester) Add(s Section) {
	var head [5]byte
	head[0] = s.Kind
	binary.LittleEndian.PutUint32(head[1:], uint32(len(s.Body)))
	_, _ = d.h.Write(head[:]) // a hash never fails
	_, _ = d.h.Write(s.Body)
}

// Sum ends the digest.
func (d *Digester) Sum() [32]byte { return [32]byte(d.h.Sum(nil)) }

// Errors of Restorer.
var (
	ErrSnapshotVersion = errors.New("kernel: the snapshot was written by a newer version than this binary knows: start this node with a binary as new as the one that wrote it")
	ErrSnapshotBroken  = errors.New("kernel: the snapshot does not decode: it is damaged")
)

// Restorer rebuilds a state from its sections. Nothing is used before Done.
type Restorer struct {
	s    *state.State
	last byte
}

// NewRestorer starts with an empty state.
func NewRestorer() *Restorer { return &Restorer{s: state.New("")} }

// Add takes the next section in.
func (r *Restorer) Add(one Section) error {
	// The root and the log come first, once each; everything else in order.
	if r.last < sectionLog && one.Kind != r.last+1 || r.last >= sectionLog && one.Kind <= sectionLog || one.Kind < r.last {
		return ErrSnapshotBroken
	}
	r.last = one.Kind
	switch one.Kind {
	case sectionRoot:
		return r.root(one.Body)
	case sectionLog:
		tables, err := logging.DecodeSnapshot(one.Body)
		if err != nil {
			return ErrSnapshotBroken
		}
		r.s.Log = tables
		return nil
	case sectionInterned:
		return load(one.Body, func(e *interned) {
			r.s.Interned.Load(&interning.Entry{No: e.No, Class: e.Class, Digest: e.Digest, Body: e.Body, Block: e.Block}, e.Users)
		})
	case sectionAgent:
		return load(one.Body, func(row *state.Row) {
			no, into := r.s.Agents.Append()
			*into = *row
			r.s.Identity.Load(row.Identity.ID, no)
		})
	case sectionPlace:
		return load(one.Body, func(p *place) { r.s.Running.Load(p.Place, p.Agent) })
	case sectionTimer:
		return load(one.Body, func(t *timers.Timer) { r.s.Timers.Load(*t) })
	case sectionCall:
		return load(one.Body, func(c *tools.Call) { r.s.Tools.Load(c) })
	case sectionSession:
		return load(one.Body, func(s *sessions.Session) { r.s.Sessions.Load(s) })
	case sectionKey:
		return load(one.Body, func(k *sessions.Keyed) { r.s.Sessions.LoadKey(k) })
	case sectionCheck:
		return load(one.Body, func(c *check) { r.s.Sessions.LoadCheck(c.At, c.ID) })
	}
	return r.addMore(one)
}

func (r *Restorer) addMore(one Section) error {
	switch one.Kind {
	case sectionMemory:
		return load(one.Body, func(e *memory.Entry) { r.s.Memory.Load(e) })
	case sectionDelegation:
		return load(one.Body, func(o *delegation.Open) { r.s.Delegation.Load(o) })
	case sectionCascade:
		return load(one.Body, func(c *delegation.Cascade) { r.s.Delegation.LoadCascade(c) })
	case sectionEscalation:
		return load(one.Body, func(e *permissions.Escalation) { r.s.Escalations.Load(e) })
	case sectionAudit:
		return load(one.Body, func(e *audit.Entry) { r.s.Audit.Load(*e) })
	case sectionAccount:
		return load(one.Body, func(a *budgets.Account) { r.s.Budgets.Load(a) })
	case sectionReservation:
		return load(one.Body, func(e *budgets.Reservation) { r.s.Budgets.LoadReserved(e) })
	case sectionWaiter:
		return load(one.Body, func(w *budgets.Waiter) { r.s.Budgets.LoadWaiter(w) })
	case sectionReady:
		return load(one.Body, func(agent *uint32) { r.s.Budgets.LoadReady(*agent) })
	case sectionRun:
		return load(one.Body, func(run *runs.Run) { r.s.Runs.Load(run) })
	case sectionLedger:
		return load(one.Body, func(l *runs.Ledger) { r.s.Runs.Reached(*l) })
	case sectionTool:
		return loadRevision(one.Body, r.s)
	case sectionBootstrap:
		return load(one.Body, func(b *principals.Bootstrap) { r.s.Principals.Load(b) })
	case sectionRole:
		return load(one.Body, func(role *principals.Role) { r.s.Principals.LoadRole(role) })
	case sectionPrincipal:
		return load(one.Body, func(p *principals.Principal) { r.s.Principals.LoadPrincipal(p) })
	case sectionCredential:
		return load(one.Body, func(c *principals.Credential) { r.s.Principals.LoadCredential(c) })
	case sectionLogged:
		return loadLogged(one.Body, r.s)
	}
	return ErrSnapshotVersion
}

func (r *Restorer) root(body []byte) error {
	decodedRoot, ok := event.DecodeBody[root](body)
	switch {
	case !ok && newer(body):
		return ErrSnapshotVersion
	case !ok:
		return ErrSnapshotBroken
	case decodedRoot.Format > SnapshotFormat || decodedRoot.Config != nil && decodedRoot.Config.Version > Version:
		return ErrSnapshotVersion
	}
	r.s.Config, r.s.Clock, r.s.Index, r.s.Term = decodedRoot.Config, decodedRoot.Clock, decodedRoot.Index, decodedRoot.Term
	r.s.Interned.Next, r.s.Timers.Next = decodedRoot.InternedNext, decodedRoot.TimerNext
	r.s.Audit.Count = decodedRoot.AuditCount
	r.s.Estop.Load(decodedRoot.Stop)
	r.s.Running.Next, r.s.Running.Reserved = decodedRoot.PlaceNext, decodedRoot.Reserved
	return nil
}

// newer tells whether a root that does not decode is of a version that may have more
// in its configuration than this one knows.
func newer(body []byte) bool {
	part, ok := event.DecodePart[root](body)
	return ok && part.Config != nil && part.Config.Version > Version
}

func load[T any](body []byte, into func(*T)) error {
	v, ok := event.DecodeBody[T](body)
	if !ok {
		return ErrSnapshotBroken
	}
	into(v)
	return nil
}

// loadRevision refuses one without its manifest, which no kernel writes.
func loadRevision(body []byte, s *state.State) error {
	one, ok := event.DecodeBody[tools.Revision](body)
	if !ok || one.Manifest == nil {
		return ErrSnapshotBroken
	}
	s.Tools.LoadRevision(*one)
	return nil
}

// Done returns the kernel that goes on from the restored state.
func (r *Restorer) Done(lookup flows.Lookup) (*Kernel, error) {
	if r.last < sectionLog {
		return nil, ErrSnapshotBroken
	}
	return fromState(r.s, lookup), nil
}
