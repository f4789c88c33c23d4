package cluster

// signal wakes one waiter; several signals before it looks are one.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

func (s signal) stir() {
	select {
	case s <- struct{}{}:
	default:
	}
}
