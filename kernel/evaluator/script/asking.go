package script

import (
	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// asking are the builtins that leave the tick, publish, or end it.
func asking(all starlark.StringDict) {
	params(all, "call", []string{"tool", "args", "timeout_ms"}, 1, func(r *run, args []starlark.Value) (starlark.Value, error) {
		c, err := r.request(args[0], args[1], args[2])
		if err != nil {
			return nil, err
		}
		return valueOf(r.one(c, nil))
	})
	params(all, "gather", []string{"calls"}, 1, gather)
	params(all, "sleep", []string{"ms"}, 1, func(r *run, args []starlark.Value) (starlark.Value, error) {
		if _, err := millis("ms", args[0]); err != nil {
			return nil, err
		}
		return valueOf(r.kernel("timer.sleep", nil, named{"ms", args[0]}))
	})
	params(all, "receive", []string{"timeout_ms"}, 0, func(r *run, args []starlark.Value) (starlark.Value, error) {
		if args[0] != nil && args[0] != starlark.None {
			if _, err := millis("timeout_ms", args[0]); err != nil {
				return nil, err
			}
		}
		return valueOf(r.kernel("mailbox.receive", nil, named{"timeout_ms", args[0]}))
	})
	params(all, "recall", []string{"key", "default", "namespace", "agent"}, 1, recall)
	params(all, "remember", []string{"key", "value", "if_version", "namespace"}, 2, remember)
	params(all, "delegate", []string{"children", "fail_fast", "timeout_ms", "detach", "decide"}, 1, delegate)
	params(all, "must", []string{"result"}, 1, func(r *run, args []starlark.Value) (starlark.Value, error) { return r.must(args[0]) })
	ending(all)
}

// valueOf makes a Value of a result, or none of an error.
func valueOf(v *result, err error) (starlark.Value, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

// request checks what a call is given.
func (r *run) request(tool, args, timeout starlark.Value) (c evaluator.Call, err error) {
	name, ok := tool.(starlark.String)
	if !ok || len(name) == 0 || len(name) > MaxToolBytes {
		return c, wrong("tool must be text of 1 to 128 bytes")
	}
	c.Tool, c.Args = string(name), value.EmptyMap
	if args != nil {
		var f *failure.Failure
		if c.Args, f = r.leave(args, r.maxValue, "what the call is given"); f != nil {
			return c, problem{f}
		}
	}
	if timeout != nil && timeout != starlark.None {
		c.TimeoutMillis, err = millis("timeout_ms", timeout)
	}
	return c, err
}

func millis(name string, v starlark.Value) (int64, error) {
	n, ok := v.(starlark.Int)
	ms, ok := small(n, ok)
	if !ok || ms < 1 || ms > MaxTimeoutMillis {
		return 0, wrong(name + " must be an integer from 1 to 86400000")
	}
	return ms, nil
}

const gatherRule = "gather needs a list of (tool, args) or (tool, args, timeout_ms), or of dicts of them"

// gather asks for several tools at once; its value is the list of results.
func gather(r *run, args []starlark.Value) (starlark.Value, error) {
	items, f := r.items(args[0])
	switch {
	case f != nil:
		return nil, problem{f}
	case len(items) == 0:
		return starlark.NewList(nil), nil
	case len(items) > MaxParallel:
		return nil, wrong("gather makes at most 64 calls at once")
	}
	calls, size := make([]evaluator.Call, len(items)), 0
	for i, item := range items {
		parts, err := partsOf(item)
		if err != nil {
			return nil, err
		}
		if calls[i], err = r.request(parts[0], parts[1], parts[2]); err != nil {
			return nil, err
		}
		if size += len(calls[i].Args); size > int(r.maxValue) {
			return nil, large("what the calls are given together is larger than the kernel's max_value_bytes")
		}
	}
	answers, err := r.ask(calls, nil)
	if err != nil {
		return nil, err
	}
	for i := range answers {
		if items[i], err = r.resultOf(answers[i]); err != nil {
			return nil, err
		}
	}
	return starlark.NewList(items), nil
}

// partsOf are tool, args and timeout_ms of one call; nil where not given.
func partsOf(v starlark.Value) (parts [3]starlark.Value, err error) {
	switch v := v.(type) {
	case *dict:
		known := 0
		for i, name := range [...]string{"tool", "args", "timeout_ms"} {
			if given, found := v.get(key{kind: textKey, text: name}); found {
				parts[i] = given
				known++
			}
		}
		if known == v.Len() && parts[0] != nil {
			return parts, nil
		}
	case listed:
		if n := v.Len(); n >= 1 && n <= 3 {
			for i := range n {
				parts[i] = v.Index(i)
			}
			return parts, nil
		}
	}
	return parts, wrong(gatherRule)
}

// named is an argument of a tool of the kernel; it is left out if v is nil or
// None.
type named struct {
	name string
	v    starlark.Value
}

// kernel asks for a tool of the kernel.
func (r *run) kernel(tool string, decide starlark.Callable, args ...named) (*result, error) {
	d := newDict(len(args))
	for _, arg := range args {
		if arg.v != nil && arg.v != starlark.None {
			d.put(starlark.String(arg.name), arg.v)
		}
	}
	raw, f := r.leave(d, r.maxValue, "what the call is given")
	if f != nil {
		return nil, problem{f}
	}
	return r.one(evaluator.Call{Tool: tool, Args: raw}, decide)
}

// recall reads the agent's own memory, its parent's, or a namespace of what is
// shared. Where nothing is stored the value is the default.
func recall(r *run, args []starlark.Value) (starlark.Value, error) {
	tool, absent, namespace, agent := "memory.read", args[1], args[2], args[3]
	if given(namespace) {
		tool = "shared.read"
		if given(agent) {
			return nil, wrong("recall: only one of namespace and agent may be given")
		}
	}
	if given(agent) && agent != starlark.String("parent") {
		return nil, wrong(`recall: agent must be "parent": no other agent's memory can be read`)
	}
	out, err := r.kernel(tool, nil, named{"key", args[0]}, named{"namespace", namespace}, named{"agent", agent})
	if err != nil || !out.ok {
		return valueOf(out, err)
	}
	stored, ok := out.value.(*dict)
	if !ok {
		return nil, wrong("what " + tool + " answered is no found, value and version")
	}
	found, _ := stored.get(key{kind: textKey, text: "found"})
	if version, ok := stored.get(key{kind: textKey, text: "version"}); ok {
		out.version = version
	}
	out.value = starlark.None
	if found == starlark.True {
		out.value, _ = stored.get(key{kind: textKey, text: "value"})
	} else if absent != nil {
		out.value = absent
	}
	return out, nil
}

func given(v starlark.Value) bool { return v != nil && v != starlark.None }

// remember writes the agent's own memory, or a namespace of what is shared.
func remember(r *run, args []starlark.Value) (starlark.Value, error) {
	tool := "memory.write"
	if given(args[3]) {
		tool = "shared.write"
	}
	d := newDict(4)
	d.put(starlark.String("key"), args[0])
	d.put(starlark.String("value"), args[1])
	if given(args[2]) {
		d.put(starlark.String("version"), args[2])
	}
	if given(args[3]) {
		d.put(starlark.String("namespace"), args[3])
	}
	raw, f := r.leave(d, r.maxValue, "what the call is given")
	if f != nil {
		return nil, problem{f}
	}
	out, err := r.one(evaluator.Call{Tool: tool, Args: raw}, nil)
	if err != nil || !out.ok {
		return valueOf(out, err)
	}
	if stored, ok := out.value.(*dict); ok {
		if version, ok := stored.get(key{kind: textKey, text: "version"}); ok {
			out.version = version
		}
	}
	return out, nil
}

// delegate asks for children and waits for what they come to. decide, if given,
// decides what they may do beyond their grants.
func delegate(r *run, args []starlark.Value) (starlark.Value, error) {
	failFast, detach := flag(args[1]), flag(args[3])
	var decide starlark.Callable
	if given(args[4]) {
		function, ok := args[4].(*starlark.Function)
		if !ok {
			return nil, wrong("delegate: decide must be a function of the script, not " + kind(args[4]))
		}
		decide = function
	}
	switch {
	case detach && failFast:
		return nil, wrong("delegate: who does not wait sees no failure: detach is true")
	case detach && decide != nil:
		return nil, wrong("delegate: who does not wait is asked nothing: detach is true")
	}
	children, f := r.items(args[0])
	switch {
	case f != nil:
		return nil, problem{f}
	case len(children) > MaxChildren:
		return nil, wrong("delegate takes at most 1000 children")
	case len(children) == 0:
		return &result{ok: true, value: starlark.NewList(nil), version: starlark.None}, nil
	}
	request := newDict(4)
	request.put(starlark.String("children"), starlark.NewList(children))
	for _, set := range []struct {
		name string
		on   bool
	}{{"fail_fast", failFast}, {"detach", detach}, {"on_escalation", decide != nil}} {
		if set.on {
			request.put(starlark.String(set.name), starlark.True)
		}
	}
	raw, f := r.leave(request, r.maxValue, "what the call is given")
	if f != nil {
		return nil, problem{f}
	}
	c := evaluator.Call{Tool: "agent.delegate", Args: raw}
	if given(args[2]) {
		var err error
		if c.TimeoutMillis, err = millis("timeout_ms", args[2]); err != nil {
			return nil, err
		}
	}
	return valueOf(r.one(c, decide))
}

func flag(v starlark.Value) bool { return v != nil && bool(v.Truth()) }

// must is the value of a result that succeeded, or of a list of them; one that
// did not fails the tick with its code, whose class decides whether the kernel
// tries again.
func (r *run) must(v starlark.Value) (starlark.Value, error) {
	switch v := v.(type) {
	case *result:
		if v.ok {
			return v.value, nil
		}
		code := failure.Code(v.code)
		if failure.ClassOf(code) == failure.Unclassified || failure.ClassOf(code) == failure.InvariantBreach {
			code = failure.ToolFailed
		}
		return nil, problem{&failure.Failure{Code: code, Message: v.message}}
	case *starlark.List:
		if f := r.allocList(uint64(v.Len())); f != nil {
			return nil, problem{f}
		}
		items := make([]starlark.Value, v.Len())
		for i := range items {
			one, ok := v.Index(i).(*result)
			if !ok {
				break
			}
			value, err := r.must(one)
			if err != nil {
				return nil, err
			}
			items[i] = value
		}
		if len(items) == 0 || items[len(items)-1] != nil {
			return starlark.NewList(items), nil
		}
	}
	return nil, wrong("must needs what call gives, or the list that gather gives")
}
