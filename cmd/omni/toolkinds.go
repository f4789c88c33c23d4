package main

import (
	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/httprequest"
	"github.com/omnikernel/omnikernel/cluster/tools/llm"
)

// toolKinds are the kinds of adapters that registered tools can name.
func toolKinds(maxResultBytes int) []tools.Kind {
	http := httprequest.NewKind(httprequest.Options{Secrets: secretFromEnvironment, MaxResultBytes: maxResultBytes})
	return []tools.Kind{http, llm.NewKind(http)}
}
