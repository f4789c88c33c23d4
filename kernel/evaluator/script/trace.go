package script

import (
	"errors"
	"strings"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// maxFrames bounds how many callers a message names.
const maxFrames = 6

// failureOf is what an error of the interpreter means, in our words, with the
// place where it happened and who called whom.
func (r *run) failureOf(err error) *failure.Failure {
	var f failure.Failure
	var own problem
	switch {
	case r.full, errors.As(err, &own) && own.Code == failure.WorkExceeded:
		f = failure.Failure{Code: failure.WorkExceeded, Message: r.exhausted()}
	case own.Failure != nil:
		f = *own.Failure
	default:
		f = failure.Failure{Code: failure.EvalFailure, Message: wordsFor(err)}
	}
	var traced *starlark.EvalError
	if errors.As(err, &traced) {
		places := r.places(traced.CallStack)
		if len(places) > 0 {
			f.Line, f.Column = uint32(places[0].Pos.Line), uint32(places[0].Pos.Col)
		}
		f.Message = failure.Clip(clipTo(f.Message, failure.MaxMessage/2) + trace(r.program.file, places))
	}
	return &f
}

func (r *run) exhausted() string {
	if r.limit < MaxSteps {
		return "the runs of the tick together take more than 64000000 steps: go on with again(state)"
	}
	return "the script takes more than 1000000 steps"
}

func clipTo(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}

// places are the frames of the script's own functions, innermost first.
func (r *run) places(stack starlark.CallStack) []starlark.CallFrame {
	var places []starlark.CallFrame
	for i := len(stack) - 1; i >= 0; i-- {
		if stack[i].Pos.Filename() == r.program.file && stack[i].Pos.IsValid() {
			places = append(places, stack[i])
		}
	}
	return places
}

// trace writes " (file:7:3 in parse, called at file:12:10 in main)".
func trace(file string, places []starlark.CallFrame) string {
	if len(places) == 0 {
		return ""
	}
	var b strings.Builder
	for i, frame := range places {
		switch {
		case i == 0:
			b.WriteString(" (")
		case i == maxFrames:
			b.WriteString(", …")
		default:
			b.WriteString(", called at ")
		}
		if i == maxFrames {
			break
		}
		b.WriteString(at(file, frame.Pos.Line, frame.Pos.Col))
		if frame.Name != "<toplevel>" {
			b.WriteString(" in " + clipTo(frame.Name, 64))
		}
	}
	b.WriteByte(')')
	return b.String()
}

// wordsFor says what an error of the interpreter itself is, by its kind. The
// interpreter only assigns, calls and loops: everything else is done by builtins,
// whose failures have words of their own.
func wordsFor(err error) string {
	var traced *starlark.EvalError
	msg := err.Error() //lint:text only looked at, to tell the kinds apart
	if errors.As(err, &traced) {
		msg = traced.Msg
	}
	name := ""
	if rest, ok := strings.CutPrefix(msg, "function "); ok {
		name, _, _ = strings.Cut(rest, " ")
		name = clipTo(name, 64)
	}
	switch {
	case strings.Contains(msg, "called recursively"):
		return "the function " + name + " calls itself: write a loop"
	case name != "":
		return "the arguments do not fit the parameters of " + name
	case strings.Contains(msg, "referenced before assignment"):
		return "a name is used before anything is assigned to it here"
	case strings.Contains(msg, "non-function"):
		return "what is called is no function"
	case strings.Contains(msg, "unpack"), strings.Contains(msg, "sequence assignment"):
		return "the items are not as many as the names that take them"
	case strings.Contains(msg, "iterat"):
		return "the value cannot be gone over"
	}
	return "the operation is not possible"
}
