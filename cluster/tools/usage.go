package tools

import (
	"strconv"
	"strings"

	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
)

// ReadUsage reads what a service or a program says that a call cost: a dictionary of
// integers (RFC 9651 section 3.2), such as
//
//	tokens=120, usd-micros=450
//
// What is left out is 0. A text that is no such thing says nothing (RU-5).
func ReadUsage(text string) kerneltools.Usage {
	if strings.TrimSpace(text) == "" {
		return kerneltools.Usage{}
	}
	usage := kerneltools.Usage{Metered: true}
	for member := range strings.SplitSeq(text, ",") {
		name, digits, ok := strings.Cut(strings.TrimSpace(member), "=")
		amount, err := strconv.ParseUint(digits, 10, 40)
		if !ok || err != nil {
			return kerneltools.Usage{}
		}
		switch name {
		case "tokens":
			usage.Tokens = amount
		case "usd-micros":
			usage.USDMicros = amount
		default:
			return kerneltools.Usage{}
		}
	}
	return usage
}
