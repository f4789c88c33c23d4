package logaudit

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/logging"
)

// claim is what a FORKED record says of its source (LO-13). Nothing is kept of
// what agents were, so it is compared when the log is read again.
type claim struct {
	identity.Origin
	by Finding // the record, to be told if the claim is wrong
}

// forkedFrom looks at FORKED, and keeps what it says for Origins.
func (a *Auditor) forkedFrom(b *identity.Forked) {
	if a.event.Kind != event.AgentFork {
		a.found(Fork, "the agent is said to be a fork, and nobody forked it")
		return
	}
	asked, ok := event.DecodeBody[event.Fork](a.event.Body)
	if !ok || asked.At != b.Seq || asked.Head != b.Head {
		a.found(Fork, "the fork is said to start from another point than it was asked for")
		return
	}
	if b.Seq >= a.before.NextSeq {
		a.found(Fork, "the fork starts from busSeq %d, which was not yet", b.Seq)
		return
	}
	a.report.Forks++
	a.claims = append(a.claims, claim{b.Origin, a.finding(a.seq, a.record, Fork, "")})
}

// Unread is how many forks were not compared with what their sources were: it
// takes reading the log again, from its beginning, with what Origins gives.
func (a *Auditor) Unread() int { return len(a.claims) }

// Origins compares forks with their sources: it is fed the log once more, up to
// where the auditor has come, and adds to the auditor's report what is wrong.
type Origins struct {
	auditor  *Auditor
	verifier *logging.Verifier
	end      logging.Point
	claims   []claim // by the points that they name, those to come
	wanted   map[identity.ID]bool
	sources  map[uint32]*source
	numbers  map[identity.ID]uint32
}

// source is how far the history of an agent that was forked has been read.
type source struct {
	last uint64 // busSeq of the last record of its last block
	head [logging.HashBytes]byte
}

// Origins begins the second reading of a kernel's log. The auditor is fed nothing
// meanwhile.
func (a *Auditor) Origins(kernelID string) *Origins {
	o := &Origins{
		auditor: a, verifier: logging.NewVerifier(logging.Genesis(kernelID).Point), end: a.Point(), claims: slices.Clone(a.claims),
		wanted: make(map[identity.ID]bool), sources: make(map[uint32]*source), numbers: make(map[identity.ID]uint32),
	}
	slices.SortStableFunc(o.claims, func(x, y claim) int { return cmp.Compare(x.Seq, y.Seq) })
	for i := range o.claims {
		o.wanted[o.claims[i].ID] = true
	}
	return o
}

// Done tells whether the log has been read as far as is needed.
func (o *Origins) Done() bool { return o.verifier.Point().Position >= o.end.Position }

// Feed reads the next block. The error is a *logging.Mismatch: what is read is not
// the log that the auditor read.
func (o *Origins) Feed(raw []byte) error {
	position := o.verifier.Point().Position
	b, digest, err := o.verifier.Next(raw)
	if err != nil {
		return err
	}
	o.compare(b.FirstSeq)
	o.define(&b)
	for i := range b.Touched() {
		no, _ := b.TouchedAt(i)
		if s := o.sources[no]; s != nil {
			s.last, s.head = b.LastSeq(), logging.ChainAfter(b.HeadAt(i), digest)
		}
	}
	now := o.verifier.Point()
	switch {
	case !o.Done():
	case now.Chain != o.end.Chain:
		return &logging.Mismatch{
			Position: position, Index: b.Index, Aspect: logging.AspectChain,
			Want: hex.EncodeToString(o.end.Chain[:]), Got: hex.EncodeToString(now.Chain[:]),
		}
	default:
		o.auditor.claims = nil
	}
	return nil
}

// define finds the numbers of those who were forked.
func (o *Origins) define(b *logging.Block) {
	for records := b.Records(); records.Next(); {
		r := &records.Record
		if bus.Kind(r.Kind) != bus.AgentDefined {
			continue
		}
		if body, ok := identity.DecodeDefined(r.Body); ok && o.wanted[body.ID] {
			o.numbers[body.ID], o.sources[r.Agent] = r.Agent, &source{}
		}
	}
}

// compare the claims about points that have gone by.
func (o *Origins) compare(next uint64) {
	for len(o.claims) > 0 && o.claims[0].Seq < next {
		c := &o.claims[0]
		o.claims = o.claims[1:]
		switch s := o.sources[o.numbers[c.ID]]; {
		case s == nil:
			o.tell(c, "the fork starts from busSeq %d of an agent that was not there", c.Seq)
		case s.last != c.Seq:
			o.tell(c, "the fork starts from busSeq %d, and its source's last event up to there ends at %d", c.Seq, s.last)
		case s.head != c.Head:
			o.tell(c, "the fork names another chain value than its source had at busSeq %d", c.Seq)
		}
	}
}

// tell adds a finding where it belongs in the auditor's list. Reports that were
// taken before stay as they are.
func (o *Origins) tell(c *claim, format string, args ...any) {
	found := c.by
	found.What = fmt.Sprintf(format, args...)
	r := &o.auditor.report
	if !r.count(Fork) {
		return
	}
	at, _ := slices.BinarySearchFunc(r.Findings, found.Seq, func(f Finding, seq uint64) int { return cmp.Compare(f.Seq, seq) })
	r.Findings = slices.Insert(slices.Clone(r.Findings), at, found)
}
