package tools

import (
	"strings"

	"github.com/omnikernel/omnikernel/cluster/tools/schema"
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// CheckAnswer holds a person's answer to the output schema of the manifest that the
// call began with, at the door: nil when it fits. The field is a path from result on.
func CheckAnswer(m *kerneltools.Manifest, answer value.Raw) *failure.Refusal {
	s, refusal := schema.Of(m.Output, "output")
	if refusal != nil { // it compiled when it was registered
		return refusal
	}
	path, rule := s.Broken(answer)
	if rule == "" {
		return nil
	}
	if path != "" && !strings.HasPrefix(path, "[") {
		path = "." + path
	}
	return &failure.Refusal{Code: failure.InvalidValue, Field: "result" + path, Rule: rule, Hint: "see it with: omni task show TASK -o json"}
}
