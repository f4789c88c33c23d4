package tell

import (
	"fmt"

	"github.com/omnikernel/omnikernel/transport/api"
)

// Problem is an error of omni itself, with its exit code.
type Problem struct {
	Exit    api.Exit
	Code    string // in capitals, for programs
	Message string
	Hint    string // what to do; may be empty
}

// Error is the message.
func (p *Problem) Error() string { return p.Message }

// Codes of Problems; those of the cluster are in transport/api.
const (
	CodeUsage        = "USAGE"           // the call makes no sense: nothing was done
	CodeRefused      = "REFUSED"         // it cannot be done here: nothing was done
	CodeNotHeld      = "CHECK_FAILED"    // what had to hold did not
	CodeAgentFailed  = "AGENT_FAILED"    // the agent that was waited for failed
	CodeRunFailed    = "RUN_FAILED"      // the run that was waited for did not complete
	CodeRunPaused    = "RUN_PAUSED"      // … is paused: somebody has to let it go on
	CodeUnknown      = "OUTCOME_UNKNOWN" // it was sent, and nobody said what came of it
	CodeUnreachable  = "UNREACHABLE"     // nobody could be asked
	CodeInterrupted  = "INTERRUPTED"     // by a signal, while waiting
	CodeInvalidInput = "INVALID_FILE"    // a file of the command line is not acceptable
)

// Usage says that a call makes no sense.
func Usage(hint, format string, args ...any) *Problem {
	return &Problem{Exit: api.ExitUsage, Code: CodeUsage, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// Refused says that something cannot be done here.
func Refused(hint, format string, args ...any) *Problem {
	return &Problem{Exit: api.ExitRefused, Code: CodeRefused, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// NotHeld says that a check did not hold.
func NotHeld(format string, args ...any) *Problem {
	return &Problem{Exit: api.ExitRefused, Code: CodeNotHeld, Message: fmt.Sprintf(format, args...)}
}
