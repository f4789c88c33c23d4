package supervise

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// Caught notes what a component panicked with while it served somebody: a request, or
// a question of another node. Whoever recovered it calls it in the deferred function,
// and goes on: one question must not end what answers all others.
func (o Options) Caught(name string, cause any) {
	o.State.Hurt(name, o.panicked(name, cause).Error())
}

// panicked logs where a panic came from, and makes an error of it.
func (o Options) panicked(name string, cause any) error {
	stack := debug.Stack()
	var inner *groupPanic
	if e, ok := cause.(error); ok && errors.As(e, &inner) {
		cause, stack = inner.cause, inner.stack
	}
	o.Logger.Error("a component panicked", "component", name, "cause", cause, "stack", string(stack))
	return &panicError{cause}
}

// panicError is what a component panicked with.
type panicError struct{ cause any }

func (p *panicError) Error() string { return fmt.Sprintf("panic: %v", p.cause) }
