package tools

import (
	"fmt"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Admit checks a call's arguments, as Run does before it calls an adapter: nil, or the
// result that the call has without being made.
func (r *Registry) Admit(request Request) *Result {
	t, over, none := r.find(request)
	if none != nil {
		return none
	}
	defer over()
	return t.admit(request)
}

// Judge checks what a call came to, as Run does with what an adapter answers, and says
// what the result is.
func (r *Registry) Judge(request Request, result Result) Result {
	t, over, none := r.find(request)
	if none != nil {
		return *none
	}
	defer over()
	return t.judge(result)
}

func (t *tool) admit(request Request) *Result {
	broken := t.args.Check(request.Args)
	if broken == "" {
		return nil
	}
	refused := Fail(failure.ToolArgsInvalid, broken)
	return &refused
}

// judge checks what an adapter answered. What the call cost stands, whatever it
// came to.
func (t *tool) judge(result Result) Result {
	judged := t.check(result)
	judged.Usage = result.Usage
	return judged
}

func (t *tool) check(result Result) Result {
	if !result.OK {
		if result.Code == "" {
			result.Code = failure.ToolFailed
		}
		return Fail(result.Code, strings.ToValidUTF8(result.Message, "?"))
	}
	if len(result.Value) > t.maxResult {
		return Fail(failure.ToolResultTooLarge, fmt.Sprintf("the result is larger than %d bytes", t.maxResult))
	}
	if problem := value.Check(result.Value, t.maxResult); problem != nil {
		return Fail(failure.ToolResultInvalid, problem.String())
	}
	if broken := t.result.Check(result.Value); broken != "" {
		return Fail(failure.ToolResultInvalid, broken)
	}
	return Succeed(result.Value)
}
