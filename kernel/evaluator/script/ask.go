package script

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// digestBytes is the length of a digest, in bytes of text.
const digestBytes = 16

// callSteps is what asking costs beside what is asked for and answered.
const callSteps = 32

// digestOf is what is asked for, by tools and arguments.
func digestOf(calls []evaluator.Call, decides bool) string {
	h := sha256.New()
	head := value.AppendBool(value.AppendListHeader(nil, uint64(len(calls))), decides)
	h.Write(head)
	for _, c := range calls {
		h.Write(value.AppendInt(value.AppendString(head[:0], c.Tool), c.TimeoutMillis))
		h.Write(c.Args)
	}
	return hex.EncodeToString(h.Sum(nil)[:digestBytes/2])
}

// ask gives the answers to calls: those that are kept, if the script is here
// again; else it stops, and the tick waits for them.
func (r *run) ask(calls []evaluator.Call, decide starlark.Callable) ([]evaluator.Answer, error) {
	n := 0
	for i := range calls {
		n += len(calls[i].Args)
	}
	if f := r.meter.Charge(callSteps*uint64(len(calls)) + uint64(n)/16); f != nil {
		return nil, problem{f}
	}
	s, digest := r.at, digestOf(calls, decide != nil)
	switch {
	case s.next < len(s.kept):
		kept := &s.kept[s.next]
		if kept.digest != digest || len(kept.answers) != len(calls) {
			return nil, problem{diverged()}
		}
		s.next++
		return kept.answers, nil
	case s.waits() && s.digest != digest:
		return nil, problem{diverged()}
	case s.waits() && s == &r.main && r.handler != nil:
		return nil, r.consider(decide)
	}
	return r.stop(calls, decide != nil, digest)
}

// stop leaves the run for calls.
func (r *run) stop(calls []evaluator.Call, decides bool, digest string) ([]evaluator.Answer, error) {
	s := r.at
	made, size := r.main.calls, checkpointHeads+r.main.size()
	if r.handler != nil {
		made += r.handler.calls
		size += r.handler.size() + len(r.escalation)
	}
	switch {
	case made+uint64(len(calls)) > MaxCalls:
		return nil, problem{&failure.Failure{Code: failure.CallOverflow, Message: "the script makes more than 1000 calls: go on with again(state)"}}
	case size > r.maxStore:
		return nil, large("what the calls so far came to is larger than the kernel's max_checkpoint_bytes: go on with again(state)")
	}
	s.digest, s.count, s.decides, s.published = digest, uint64(len(calls)), decides, s.emits
	if r.answer != nil {
		s.keep(r.answer(calls))
		s.next++
		return s.kept[len(s.kept)-1].answers, nil
	}
	r.ended = evaluator.Result{Kind: evaluator.NeedsTool, Calls: calls}
	return nil, errStopped
}

// resultOf is what one call came to, as the script sees it: frozen.
func (r *run) resultOf(a evaluator.Answer) (*result, error) {
	out := &result{ok: a.OK, value: starlark.None, version: starlark.None, code: string(a.Code), message: a.Message}
	if f := r.meter.Alloc(2*listBytes + uint64(len(a.Message)+len(a.Code))); f != nil {
		return nil, problem{f}
	}
	if !a.OK {
		return out, nil
	}
	out.code, out.message = "", ""
	v, f := r.enter(orNull(a.Value))
	if f != nil {
		return nil, problem{f}
	}
	out.value = v
	return out, nil
}

// one asks for one call.
func (r *run) one(call evaluator.Call, decide starlark.Callable) (*result, error) {
	answers, err := r.ask([]evaluator.Call{call}, decide)
	if err != nil {
		return nil, err
	}
	return r.resultOf(answers[0])
}

const decisionRule = "decide must give True, False or {approve, reason}"

// consider lets a script's function decide what a child asks for. A function that
// fails has not approved: a child must not be able to end its parent's tick by
// what it asks for.
func (r *run) consider(decide starlark.Callable) error {
	s := r.handler
	r.at, s.next, s.emits = s, 0, 0
	member, _ := r.escalation.Get("escalation")
	number, _ := member.Int()
	decision := &evaluator.Decision{Escalation: uint64(number)}
	v, err := r.considered(decide)
	switch {
	case err == nil && (s.next < len(s.kept) || s.waits()):
		return problem{diverged()}
	case errors.Is(err, errStopped):
		return err
	case err != nil:
		f := r.failureOf(err)
		if f.Code == failure.ReplayDivergence {
			return err
		}
		decision.Reason = failure.Clip(string(f.Code) + ": " + f.Message)
	default:
		var ok bool
		if decision.Approve, decision.Reason, ok = decided(v); !ok {
			decision.Reason = string(failure.EvalFailure) + ": " + decisionRule + ", not " + kind(v)
		}
	}
	r.handler, r.escalation = nil, nil
	r.ended = evaluator.Result{Kind: evaluator.NeedsDecision, Decision: decision}
	return errStopped
}

func (r *run) considered(decide starlark.Callable) (starlark.Value, error) {
	asked, f := r.enter(r.escalation)
	if f != nil {
		return nil, problem{f}
	}
	return r.callBack(decide, asked)
}

// decided reads what such a function gave: a boolean, or {approve, reason?}.
func decided(v starlark.Value) (approve bool, reason string, ok bool) {
	if b, ok := v.(starlark.Bool); ok {
		return bool(b), "", true
	}
	d, ok := v.(*dict)
	if !ok {
		return false, "", false
	}
	said, _ := d.get(key{kind: textKey, text: "approve"})
	b, ok := said.(starlark.Bool)
	if !ok {
		return false, "", false
	}
	known := 1
	if given, has := d.get(key{kind: textKey, text: "reason"}); has {
		known++
		words, isText := given.(starlark.String)
		if !isText {
			return false, "", false
		}
		reason = failure.Clip(string(words))
	}
	return bool(b), reason, d.Len() == known
}
