package netns

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
)

// Thread is a thread of this program that is inside of a namespace. What it opens
// and starts is there too: sockets, TAP devices, processes. A process that is tied
// to the death of the thread that started it lives as long as the Thread is open.
type Thread struct {
	work   chan func()
	closed chan struct{}
	close  func()
}

// Enter makes a thread in the namespace.
func Enter(name string) (*Thread, error) {
	t := &Thread{work: make(chan func()), closed: make(chan struct{})}
	t.close = sync.OnceFunc(func() { close(t.closed) })
	entered := make(chan error)
	go t.run(name, entered)
	if err := <-entered; err != nil {
		return nil, err
	}
	return t, nil
}

// run never unlocks its thread: the thread ends with the goroutine, and nobody
// else is ever in the namespace by mistake. The program's first thread does not end:
// it goes back, since what it is in the whole program seems to be in.
func (t *Thread) run(name string, entered chan<- error) {
	runtime.LockOSThread()
	leave, err := enter(name)
	entered <- err
	if err != nil {
		return
	}
	defer leave()
	defer t.Close()
	for {
		select {
		case f := <-t.work:
			f()
		case <-t.closed:
			return
		}
	}
}

// Do calls f on the thread, and returns what it returns. Only what f does by
// itself is in the namespace, not what goroutines do that it starts.
func (t *Thread) Do(f func() error) error {
	done := make(chan error, 1)
	select {
	case t.work <- func() {
		err := errors.New("what ran on the thread in the namespace did not return")
		defer func() { done <- err }() // even if it ended the goroutine, as tests that fail do
		err = f()
	}:
		return <-done
	case <-t.closed:
		return errors.New("the thread in the namespace is closed")
	}
}

// Close ends the thread.
func (t *Thread) Close() { t.close() }

// Do calls f in a namespace, as Thread.Do does.
func Do(name string, f func() error) error {
	t, err := Enter(name)
	if err != nil {
		return fmt.Errorf("in namespace %q: %w", name, err)
	}
	defer t.Close()
	return t.Do(f)
}
