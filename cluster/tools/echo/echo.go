package echo

import (
	"context"
	"time"

	"github.com/omnikernel/omnikernel/cluster/tools"
)

// Adapter is the echo tool.
type Adapter struct{}

var _ tools.Adapter = Adapter{}

const (
	maxResultBytes = 1 << 20 // the kernel's own bound on values is lower
	defaultTimeout = 5 * time.Second
)

// Manifest says that any value is taken and given.
func (Adapter) Manifest() tools.Manifest {
	return tools.Manifest{
		Name:           "echo",
		Description:    "Answers with its arguments.",
		MaxResultBytes: maxResultBytes,
		DefaultTimeout: defaultTimeout,
	}
}

// Call answers with the arguments.
func (Adapter) Call(_ context.Context, r tools.Request) tools.Result {
	return tools.Succeed(r.Args)
}
