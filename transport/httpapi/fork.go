package httpapi

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// forkHeadBytes is what an event has beside its body, at most.
const forkHeadBytes = 4 << 10

// makeFork folds the source's history up to the point, from this node's log, and
// makes the event of what it finds (LO-13). The same request gives the same event,
// whoever is asked and however often: so it can be sent again.
func (s *Server) makeFork(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	if e := checkAgent(r.PathValue("id")); e != nil {
		return 0, nil, e
	}
	var asked api.ForkBody
	if e := decodeFork(body, &asked); e != nil {
		return 0, nil, e
	}
	if leader, known := s.node.Leader(); known && leader.ID != s.node.ID() {
		_, e := s.settle(&cluster.Answer{Verdict: cluster.Refused, Code: cluster.CodeNotLeader, Leader: leader})
		return 0, nil, e
	}
	ctx, cancel := s.within(r, s.options.ReadTimeout)
	defer cancel()
	view, no, row, e := s.findAgent(ctx, r, &params{})
	if e != nil {
		return 0, nil, e
	}
	// Whoever may not is told before anything is looked up, or worked out.
	wanted := flows.Access{Action: "agent.fork", Resource: flows.AgentResource(view.State, r.PathValue("id"))}
	if _, refusal := askerIn(ctx).may(view.State, wanted); refusal != nil {
		return 0, nil, atDoor(refusal)
	}
	fork, e := s.momentOf(ctx, &view, no, row, asked.At)
	if e != nil {
		return 0, nil, e
	}
	change(fork, &asked)
	if e := s.checkDefine(&fork.Define, ""); e != nil {
		return 0, nil, e
	}
	if fork.Submit != nil && len(fork.Submit.Program) == 0 {
		if e := s.checkInput(fork.Define.Input, fork.Submit.Input); e != nil {
			return 0, nil, e
		}
	}
	if size := len(event.Encode(fork)); size > event.MaxBytes-forkHeadBytes {
		return 0, nil, refused(api.CodeTooLarge, "at", "what the agent had there has "+strconv.Itoa(size)+" bytes, and an event has at most "+
			strconv.Itoa(event.MaxBytes-forkHeadBytes), "choose a point at which it remembered less, or had fewer messages")
	}
	return event.AgentFork, fork, nil
}

// momentOf folds one agent's records up to the end of the event that the busSeq
// belongs to.
func (s *Server) momentOf(ctx context.Context, view *cluster.View, no uint32, row *state.Row, at uint64) (*event.Fork, *api.Error) {
	if at >= view.Log.NextSeq {
		return nil, noPoint(view, row)
	}
	moment := kernel.NewMoment(no, view.Config, s.programs.Lookup, s.bodyAt)
	var failed error
	err := s.node.Log().AgentHistory(no, row.LastBlock, row.Identity.Seq, func(position uint64, b *logging.Block) bool {
		if b.FirstSeq > at {
			return false
		}
		if failed = moment.Fold(position, b); failed == nil {
			failed = ctx.Err()
		}
		return failed == nil
	})
	switch {
	case err != nil:
		return nil, s.logError(err)
	case ctx.Err() != nil:
		return nil, refused(api.CodeTimeout, "", "the agent's history was not read in time", "")
	case failed != nil:
		return nil, s.logError(failed)
	}
	if moment.Row() == nil {
		return nil, noPoint(view, row)
	}
	fork, err := moment.Fork()
	if errors.Is(err, kernel.ErrNoMoment) {
		return nil, refused(string(failure.InvalidState), "at", "by then the agent was over for so long that its programs and its memory were gone", "choose an earlier point")
	}
	return fork, nil
}

func noPoint(view *cluster.View, row *state.Row) *api.Error {
	return invalid("at", "must be a busSeq from the agent's definition, "+strconv.FormatUint(row.Identity.Seq, 10)+
		", to the end of the log, "+strconv.FormatUint(view.Log.NextSeq-1, 10), "omni log --agent AGENT lists what is on record of an agent")
}

var errNoBody = errors.New("httpapi: a block does not hold the body that a later one says it does")

// bodyAt is a kernel.FindBody over the node's log.
func (s *Server) bodyAt(no uint32, pointer uint64) ([]byte, error) {
	b, err := s.node.Log().BlockAt(pointer - 1)
	if err != nil {
		return nil, err
	}
	body := kernel.BodyIn(&b, no)
	if body == nil {
		return nil, errNoBody
	}
	return bytes.Clone(body), nil
}

// change makes the fork what was asked for.
func change(f *event.Fork, asked *api.ForkBody) {
	f.Define.ID = asked.ID
	if asked.Name != "" {
		f.Define.Name = asked.Name
	}
	if asked.Grants != nil {
		f.Define.Grants = *asked.Grants
	}
	for key, v := range asked.Set {
		f.Set = append(f.Set, event.ForkSet{Key: key, Value: v})
	}
	slices.SortFunc(f.Set, func(a, b event.ForkSet) int { return bytes.Compare([]byte(a.Key), []byte(b.Key)) })
	if len(asked.Program) > 0 || len(asked.Input) > 0 {
		f.Submit = &event.ForkInstruction{Program: asked.Program, Input: asked.Input}
	}
}

func decodeFork(raw value.Raw, f *api.ForkBody) *api.Error {
	given := false
	e := eachField(raw, "", func(in field) *api.Error {
		switch in.key {
		case "at":
			given = in.raw != nil
			return in.whole(&f.At, mostSeq)
		case "id":
			return in.text(&f.ID)
		case "name":
			return in.text(&f.Name)
		case "set":
			return decodeSet(in, &f.Set)
		case "grants":
			if in.raw == nil {
				return nil
			}
			f.Grants = &[]permissions.Grant{}
			return decodeGrants(in, f.Grants)
		case "program":
			return in.any(&f.Program)
		case "input":
			return in.any(&f.Input)
		}
		return in.unknown("at, grants, id, input, name, program, set")
	})
	if e == nil && !given {
		e = required("", "at", "the busSeq of a record; omni log --agent AGENT lists them")
	}
	return e
}

func decodeSet(in field, into *map[string]value.Raw) *api.Error {
	if in.raw == nil {
		return nil
	}
	*into = make(map[string]value.Raw)
	return eachField(in.raw, in.path(), func(entry field) *api.Error {
		v := entry.raw
		if v == nil {
			v = value.Null
		}
		(*into)[entry.key] = v
		return nil
	})
}
