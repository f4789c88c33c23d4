package mcpclient

import (
	"context"
	"sync/atomic"
)

// mark is what the ways to a server note about one call, and how it fared.
type mark struct {
	sent    atomic.Bool  // something of it may have reached the server
	flooded atomic.Bool  // its answer was cut off
	whole   atomic.Bool  // of HTTP: there was an answer to its end, or one of another kind than the protocol knows
	status  atomic.Int32 // of HTTP
}

type markKey struct{}

func withMark(ctx context.Context, m *mark) context.Context {
	return context.WithValue(ctx, markKey{}, m)
}

// markOf is the call's mark; one that nobody looks at for what is no call.
func markOf(ctx context.Context) *mark {
	if m, ok := ctx.Value(markKey{}).(*mark); ok {
		return m
	}
	return new(mark)
}
