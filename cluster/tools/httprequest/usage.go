package httprequest

import (
	"net/http"
	"strings"

	"github.com/omnikernel/omnikernel/cluster/tools"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
)

// UsageHeader is the header in which a service says what a request cost, whatever
// it answers, as tools.ReadUsage reads it:
//
//	Omni-Usage: tokens=120, usd-micros=450
const UsageHeader = "Omni-Usage"

func usageOf(h http.Header) kerneltools.Usage {
	return tools.ReadUsage(strings.Join(h.Values(UsageHeader), ","))
}
