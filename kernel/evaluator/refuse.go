package evaluator

import (
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// invalid refuses a program because of one field.
func invalid(path, rule, hint string) *failure.Refusal {
	return &failure.Refusal{
		Code:  failure.InvalidProgram,
		Field: failure.Clip(path),
		Rule:  failure.Clip(rule),
		Hint:  failure.Clip(hint),
	}
}

// wrongType is the failure of a field whose value has an unfitting kind.
func wrongType(rule string) *failure.Failure {
	return &failure.Failure{Code: failure.EvalFailure, Message: rule}
}

// tooLarge is the failure of something beyond a bound in bytes.
func tooLarge(what string, maxBytes uint32) *failure.Failure {
	return &failure.Failure{
		Code:    failure.ValueTooLarge,
		Message: what + " is larger than " + strconv.FormatUint(uint64(maxBytes), 10) + " bytes",
	}
}
