package sessions

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/table"
)

// Window is how many sequences above the floor may be open at once.
const Window = 256

// InlineBytes is the longest outcome kept here; a longer one is kept as the
// position of the block that recorded it.
const InlineBytes = 256

// sweep is how many idle entries one event may drop.
const sweep = 4

// Digest of a command's kind and body, and of who sent it where that was judged: a
// retry must bring the same.
type Digest [16]byte

// DigestOf computes it.
func DigestOf(e *event.Event) Digest {
	h := sha256.New()
	h.Write([]byte{byte(e.Kind), byte(e.Kind >> 8)})
	h.Write(e.Body)
	if of, _, judged := strings.Cut(e.Principal, "#"); judged {
		h.Write([]byte(of)) // nobody is told what another principal was answered (AU-6)
	}
	var sum [sha256.Size]byte
	h.Sum(sum[:0])
	return Digest(sum[:16])
}

// Answer is one remembered outcome.
type Answer struct {
	_        struct{} `cbor:",toarray"`
	Seq      uint64
	Digest   Digest
	Index    uint64
	Outcome  []byte // encoded event.Outcome; nil when it was too long
	Position uint64 // then: position + 1 of its block
}

// Session is one client's window.
type Session struct {
	_        struct{} `cbor:",toarray"`
	ID       [16]byte
	LastUsed int64 // kernel clock, Unix milliseconds
	Floor    uint64
	Answers  []Answer // by Seq
	gen      uint64
}

// Keyed is the remembered outcome of one idempotency key.
type Keyed struct {
	_       struct{} `cbor:",toarray"`
	Key     string   // principal, NUL, key
	Created int64
	Answer  Answer
}

// sessionID orders sessions bytewise.
type sessionID [16]byte

// Compare orders ids bytewise.
func (id sessionID) Compare(other sessionID) int { return bytes.Compare(id[:], other[:]) }

// check is when to look at a session again.
type check struct {
	at int64
	id sessionID
}

// Compare puts earlier checks first.
func (c check) Compare(other check) int {
	if order := cmp.Compare(c.at, other.at); order != 0 {
		return order
	}
	return c.id.Compare(other.id)
}

// keyText is an idempotency key as keyOf writes it.
type keyText string

// Compare orders keys bytewise.
func (k keyText) Compare(other keyText) int { return cmp.Compare(k, other) }

// created is when an idempotency key was first used.
type created struct {
	at  int64
	key keyText
}

// Compare puts older keys first.
func (c created) Compare(other created) int {
	if order := cmp.Compare(c.at, other.at); order != 0 {
		return order
	}
	return c.key.Compare(other.key)
}

// Tables is the module's state.
type Tables struct {
	gen    uint64
	byID   table.Sorted[sessionID, *Session]
	checks table.Sorted[check, struct{}]
	keys   table.Sorted[keyText, *Keyed]
	aging  table.Sorted[created, struct{}]

	// current is the event whose outcome is awaited; it lives within one event.
	current *event.Event
	digest  Digest
}

// Publish returns an immutable copy.
func (t *Tables) Publish() Tables {
	copied := Tables{
		byID: t.byID.Publish(), checks: t.checks.Publish(), keys: t.keys.Publish(), aging: t.aging.Publish(),
	}
	t.gen++
	return copied
}

// Len is the number of sessions.
func (t *Tables) Len() int { return t.byID.Len() }

// Keys is how many idempotency keys are remembered.
func (t *Tables) Keys() int { return t.keys.Len() }

// Judgement of a command before it is decided.
type Judgement struct {
	Repeat  *Answer // it was answered before
	Refusal *failure.Refusal
}

// Judge says whether the command is new, a retry, or out of place. It is a
// pure view.
func (t *Tables) Judge(e *event.Event, now int64, cfg *config.Config) Judgement {
	switch {
	case e.Session.Present() && e.IdempotencyKey != "":
		return refuse(failure.InvalidArgument, "session", "a command has a session or an idempotency key, not both")
	case e.Session.Present():
		return t.judgeSession(e, now, cfg)
	case e.IdempotencyKey != "":
		return t.judgeKey(e, cfg)
	}
	return Judgement{}
}

func (t *Tables) judgeSession(e *event.Event, now int64, cfg *config.Config) Judgement {
	s := e.Session
	if s.Seq == 0 || s.Floor == 0 || s.Floor > s.Seq {
		return refuse(failure.InvalidArgument, "session.seq", "sequence and floor start at 1, and floor is at most the sequence")
	}
	known, ok := t.byID.Get(s.ID)
	if !ok {
		age := now - s.OpenedAt()
		switch {
		case age > cfg.SessionOpenMillis || age < -cfg.SessionOpenMillis:
			return refuse(failure.SessionExpired, "session.id", "the session is not known, and too old to be opened: open a new one; whether earlier commands took effect can be read from the log")
		case t.byID.Len() >= int(cfg.MaxSessions):
			return refuse(failure.SessionsFull, "session.id", "the cluster remembers as many sessions as it may: try again later")
		case s.Seq >= s.Floor+Window:
			return refuse(failure.SequenceOutOfWindow, "session.seq", "a sequence must be less than floor + 256")
		}
		return Judgement{}
	}
	if s.Seq < known.Floor {
		return refuse(failure.AlreadyAcknowledged, "session.seq", "the client said it no longer wants this answer: it is forgotten")
	}
	if i, found := known.find(s.Seq); found {
		return same(&known.Answers[i], e)
	}
	if s.Seq >= max(known.Floor, s.Floor)+Window {
		return refuse(failure.SequenceOutOfWindow, "session.seq", "a sequence must be less than floor + 256")
	}
	return Judgement{}
}

func (t *Tables) judgeKey(e *event.Event, cfg *config.Config) Judgement {
	if kept, ok := t.keys.Get(keyOf(e)); ok {
		return same(&kept.Answer, e)
	}
	if t.keys.Len() >= int(cfg.MaxIdempotencyKeys) {
		return refuse(failure.SessionsFull, "Idempotency-Key", "the cluster remembers as many keys as it may: try again later")
	}
	return Judgement{}
}

func refuse(code failure.Code, field, rule string) Judgement {
	return Judgement{Refusal: &failure.Refusal{Code: code, Field: field, Rule: rule}}
}

// keyOf is a principal's own key, whichever credential it came with.
func keyOf(e *event.Event) keyText {
	of, _, _ := strings.Cut(e.Principal, "#")
	return keyText(of + "\x00" + e.IdempotencyKey)
}

func (s *Session) find(seq uint64) (int, bool) {
	return slices.BinarySearchFunc(s.Answers, seq, func(a Answer, seq uint64) int { return cmp.Compare(a.Seq, seq) })
}

// ApplyEvent takes an Event record in: it lets go of what has been idle for too
// long, and notes whether the outcome that will come is to be remembered. Only
// that of a new command is: a retry has its answer, and what the session itself
// refuses would be the answer to a command that has another, or none.
func (t *Tables) ApplyEvent(at bus.At, e *event.Event, cfg *config.Config) {
	t.current = nil
	if cfg == nil {
		return
	}
	t.dropIdle(at.Now, cfg)
	remembered := e.Kind.IsCommand() && (e.Session.Present() || e.IdempotencyKey != "")
	if remembered && t.Judge(e, at.Now, cfg) == (Judgement{}) {
		t.current, t.digest = e, DigestOf(e)
	}
}

func (t *Tables) dropIdle(now int64, cfg *config.Config) {
	for range sweep {
		first, _, ok := t.checks.First()
		if !ok || first.at > now {
			break
		}
		t.checks.Delete(first)
		s, _ := t.byID.Get(first.id)
		if idleUntil := s.LastUsed + cfg.SessionIdleMillis; idleUntil >= now {
			t.checks.Set(check{idleUntil + 1, first.id}, struct{}{})
			continue
		}
		t.byID.Delete(first.id)
	}
	for range sweep {
		first, _, ok := t.aging.First()
		if !ok || first.at+cfg.IdempotencyWindowMillis >= now {
			break
		}
		t.aging.Delete(first)
		t.keys.Delete(first.key)
	}
}

// ApplyOutcome takes an Outcome record in. position is where its block starts.
func (t *Tables) ApplyOutcome(at bus.At, position uint64, o *event.Outcome, cfg *config.Config) {
	e := t.current
	t.current = nil
	if e == nil {
		return
	}
	answer := Answer{Seq: e.Session.Seq, Digest: t.digest, Index: at.Index}
	var room [InlineBytes]byte
	if encoded := o.AppendTo(room[:0]); len(encoded) <= InlineBytes {
		answer.Outcome = bytes.Clone(encoded)
	} else {
		answer.Position = position + 1
	}
	if e.IdempotencyKey != "" {
		key := keyOf(e)
		t.LoadKey(&Keyed{Key: string(key), Created: at.Now, Answer: answer})
		return
	}
	s := t.own(e.Session.ID, at.Now, cfg)
	s.LastUsed = at.Now
	s.Floor = max(s.Floor, e.Session.Floor)
	keep, _ := s.find(s.Floor)
	s.Answers = slices.Delete(s.Answers, 0, keep)
	i, _ := s.find(answer.Seq)
	s.Answers = slices.Insert(s.Answers, i, answer)
}

// own returns the session for writing, opened if need be.
func (t *Tables) own(id [16]byte, now int64, cfg *config.Config) *Session {
	s, ok := t.byID.Get(id)
	switch {
	case !ok:
		s = &Session{ID: id, gen: t.gen}
		t.byID.Set(id, s)
		t.checks.Set(check{now + cfg.SessionIdleMillis + 1, id}, struct{}{})
	case s.gen != t.gen:
		dup := *s
		dup.gen = t.gen
		dup.Answers = slices.Clone(s.Answers)
		s = &dup
		t.byID.Set(id, s)
	}
	return s
}

// All yields the sessions in order of their ids, and AllKeys the keys in order.
func (t *Tables) All(yield func(*Session) bool) {
	t.byID.All(func(_ sessionID, s *Session) bool { return yield(s) })
}

// AllKeys yields the idempotency keys in order.
func (t *Tables) AllKeys(yield func(*Keyed) bool) {
	t.keys.All(func(_ keyText, k *Keyed) bool { return yield(k) })
}

// AllChecks yields when each session is looked at again, in order: it is state,
// since it says which event drops which session.
func (t *Tables) AllChecks(yield func(at int64, id [16]byte) bool) {
	t.checks.All(func(c check, _ struct{}) bool { return yield(c.at, c.id) })
}

// Load puts a session back from a snapshot, LoadKey a key, LoadCheck a check.
func (t *Tables) Load(s *Session) { t.byID.Set(s.ID, s) }

// LoadKey puts an idempotency key back from a snapshot.
func (t *Tables) LoadKey(k *Keyed) {
	t.keys.Set(keyText(k.Key), k)
	t.aging.Set(created{k.Created, keyText(k.Key)}, struct{}{})
}

// LoadCheck puts a check back from a snapshot.
func (t *Tables) LoadCheck(at int64, id [16]byte) { t.checks.Set(check{at, id}, struct{}{}) }
