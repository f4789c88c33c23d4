package logaudit_test

import (
	"bytes"
	"maps"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// forgery is a log that somebody writes anew: its records can be changed, and
// every checksum, chain value and pointer is then computed as if it had been so
// from the beginning. busSeqs stay: what is taken out leaves a record behind
// that says nothing.
type forgery struct {
	t      kerneltest.TB
	blocks []*forged
}

type forged struct {
	index, term uint64
	clock       int64
	records     []*written
	alone       bool   // the runs of its agents are left out
	stranger    uint32 // a run that it touches for nobody
	astray      bool   // its runs' chains go on from elsewhere
}

type written struct {
	logging.Header
	seq  uint64
	body []byte
}

func forge(t kerneltest.TB, raw [][]byte) *forgery {
	f := &forgery{t: t}
	for _, one := range raw {
		b, err := logging.Decode(one)
		require.NoError(t, err)
		block := &forged{index: b.Index, term: b.Term, clock: b.ClockMillis}
		for records := b.Records(); records.Next(); {
			r := records.Record
			block.records = append(block.records, &written{Header: r.Header, seq: r.Seq, body: bytes.Clone(r.Body)})
		}
		f.blocks = append(f.blocks, block)
	}
	return f
}

// write gives the log's blocks.
func (f *forgery) write() (raw [][]byte) {
	type place struct {
		last uint64
		head [logging.HashBytes]byte
	}
	tables, agents := logging.Genesis("default"), make(map[uint32]*place)
	works := make(map[uint32]uint32) // for which run an agent does
	var builder logging.Builder
	for _, block := range f.blocks {
		builder.Begin(block.index, block.term, tables.NextSeq, block.clock)
		touched := make(map[uint32]bool)
		touch := func(subject uint32) {
			if touched[subject] {
				return
			}
			touched[subject] = true
			if agents[subject] == nil {
				agents[subject] = &place{}
			}
			if block.astray && subject > logging.MaxAgent {
				agents[subject].head[0]++
			}
			builder.Touch(subject, agents[subject].last, agents[subject].head)
		}
		for at, r := range block.records {
			if at == 0 {
				r.Cause = 0
			} else {
				r.Cause = min(r.Cause, uint32(at)-1)
			}
			builder.Open(r.Header)
			builder.Buf = append(builder.Buf, r.body...)
			builder.Close()
			if r.Agent != 0 {
				touch(r.Agent)
			}
			switch bus.Kind(r.Kind) {
			case bus.RunDefined:
				works[r.Agent] = r.Agent
			case bus.TokenIssued:
				if body, ok := delegation.DecodeTokenIssued(r.body); ok && works[body.Parent] != 0 {
					works[r.Agent] = works[body.Parent]
				}
			}
		}
		for no := range maps.Clone(touched) {
			if works[no] != 0 && !block.alone {
				touch(logging.RunSubject(works[no]))
			}
		}
		if block.stranger != 0 {
			touch(logging.RunSubject(block.stranger))
		}
		sealed, digest := builder.Seal(tables.Chain)
		for no := range touched {
			agents[no].last, agents[no].head = logging.PointerTo(tables.Position), logging.ChainAfter(agents[no].head, digest)
		}
		tables.Advance(sealed, digest, 1<<30)
		raw = append(raw, bytes.Clone(sealed))
	}
	return raw
}

// all lists the records of a kind, of one agent or with 0 of all.
func (f *forgery) all(kind bus.Kind, agent uint32) (found []*written) {
	for _, block := range f.blocks {
		for _, r := range block.records {
			if bus.Kind(r.Kind) == kind && (agent == 0 || r.Agent == agent) {
				found = append(found, r)
			}
		}
	}
	return found
}

// nth is the nth record of a kind of an agent, from 0; the last for -1.
func (f *forgery) nth(kind bus.Kind, agent uint32, n int) *written {
	found := f.all(kind, agent)
	if n < 0 {
		n += len(found)
	}
	require.Less(f.t, n, len(found), "there is no such record: %s of agent %d", kernel.KindName(kind), agent)
	return found[n]
}

// blank takes a record out: what it leaves says nothing.
func (f *forgery) blank(r *written) {
	r.Header = logging.Header{Kind: uint16(bus.StaleResult), Cause: r.Cause}
	r.body = (&tools.StaleBody{}).AppendTo(nil)
}

// put writes a record over another.
func (f *forgery) put(over *written, r bus.Record) {
	over.Header = logging.Header{Kind: uint16(r.Kind), Agent: r.Agent, Tick: r.Tick, Step: r.Step, Cause: over.Cause}
	over.body = nil
	if r.Body != nil {
		over.body = r.Body.AppendTo(nil)
	}
}

// copy writes a record over another, as it is.
func (f *forgery) copy(over, r *written) {
	cause := over.Cause
	over.Header, over.body = r.Header, r.body
	over.Cause = cause
}

// swap lets two records change their places.
func (f *forgery) swap(a, b *written) {
	a.Header, b.Header = b.Header, a.Header
	a.body, b.body = b.body, a.body
}

// edit changes the body of a record.
func edit[T bus.Body](f *forgery, r *written, change func(T)) {
	body, ok := kernel.DecodeRecordBody(bus.Kind(r.Kind), r.body)
	require.True(f.t, ok)
	typed, ok := body.(T)
	require.True(f.t, ok)
	change(typed)
	r.body = typed.AppendTo(nil)
}

// at is the record with a busSeq.
func (f *forgery) at(seq uint64) *written {
	for _, block := range f.blocks {
		if first := block.records[0].seq; seq < first+uint64(len(block.records)) {
			return block.records[seq-first]
		}
	}
	require.FailNow(f.t, "there is no such record")
	return nil
}

// before is the record of a kind that stands nearest before another, in its block.
func (f *forgery) before(r *written, kind bus.Kind) (found *written) {
	for _, block := range f.blocks {
		if block.records[0].seq > r.seq {
			break
		}
		found = nil
		for _, other := range block.records {
			if other.seq < r.seq && bus.Kind(other.Kind) == kind {
				found = other
			}
		}
	}
	require.NotNil(f.t, found)
	return found
}

// after is the record of a kind that stands next behind another.
func (f *forgery) after(r *written, kind bus.Kind) *written {
	for _, other := range f.all(kind, 0) {
		if other.seq > r.seq {
			return other
		}
	}
	require.FailNow(f.t, "no such record follows", kernel.KindName(kind))
	return nil
}

// executed is the record that says that a requested call was done; nil when it
// was not.
func (f *forgery) executed(r *written) *written {
	asked, ok := tools.DecodeRequested(r.body)
	require.True(f.t, ok)
	for _, other := range f.all(bus.ActionExecuted, r.Agent) {
		done, ok := tools.DecodeAction(other.body)
		require.True(f.t, ok)
		if other.Tick == r.Tick && done.Call == asked.Call {
			return other
		}
	}
	return nil
}

// blockOf is the place of the block that holds a record.
func (f *forgery) blockOf(r *written) int {
	for i := range f.blocks {
		if f.blocks[i].records[0].seq > r.seq {
			return i - 1
		}
	}
	return len(f.blocks) - 1
}

func (b *forged) last() *written { return b.records[len(b.records)-1] }

// revoked is the record of the end of an agent's token, as it was issued.
func (f *forgery) revoked(agent uint32) bus.Record {
	var b delegation.TokenRevoked
	edit(f, f.nth(bus.TokenIssued, agent, 0), func(t *delegation.TokenIssued) {
		b = delegation.TokenRevoked{Code: failure.TokenRevoked, Token: t.Token, Parent: t.Parent, Grants: t.Grants, Depth: t.Depth, Expires: t.Expires}
	})
	return bus.Record{Kind: bus.TokenRevoked, Agent: agent, Body: &b}
}

// forkOf changes what the event that made a fork, and the record of it, say.
func (f *forgery) forkOf(agent uint32, change func(*event.Fork, *identity.Forked)) *written {
	r := f.nth(bus.Forked, agent, 0)
	edit(f, f.blocks[f.blockOf(r)].records[0], func(asked *event.Recorded) {
		e, ok := event.DecodeBody[event.Fork](asked.Event.Body)
		require.True(f.t, ok)
		edit(f, r, func(b *identity.Forked) { change(e, b) })
		asked.Event.Body = event.Encode(e)
	})
	return r
}

// widen puts a grant for everything into the lists of grants of a record.
func (f *forgery) widen(r *written) {
	edit(f, r, func(g *interning.Gained) {
		for i := range g.Entries {
			if e := &g.Entries[i]; e.Class == interning.Grants && e.New {
				list, ok := event.DecodeBody[[]permissions.Grant](e.Body)
				require.True(f.t, ok)
				e.Body = event.AppendGrants(nil, append(*list, permissions.Grant{Effect: permissions.Allow, Action: "root.all", Resource: "**"}))
			}
		}
	})
}
