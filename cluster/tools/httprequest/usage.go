package httprequest

import (
	"net/http"
	"strconv"
	"strings"

	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
)

// UsageHeader is the header in which a service says what a request cost, whatever
// it answers: a dictionary of integers (RFC 9651 section 3.2), such as
//
//	Omni-Usage: tokens=120, usd-micros=450
//
// What is left out is 0. A header that is no such thing says nothing (RU-5).
const UsageHeader = "Omni-Usage"

func usageOf(h http.Header) kerneltools.Usage {
	values := h.Values(UsageHeader)
	if len(values) == 0 {
		return kerneltools.Usage{}
	}
	usage := kerneltools.Usage{Metered: true}
	for _, member := range strings.Split(strings.Join(values, ","), ",") {
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
