package wire

import (
	"container/heap"
	"sync"
	"time"
)

// waiting has the frames that are under way, and delivers each when it is due.
type waiting struct {
	s     *Switch
	pool  sync.Pool     // of *frame
	wake  chan struct{} // something is due before everything else
	stop  chan struct{}
	ended chan struct{}

	mu     sync.Mutex // guards what follows
	frames queue
	order  uint64 // of the next frame: those that are due together keep their order
}

// frame is one that waits.
type frame struct {
	link  *link
	due   time.Duration
	order uint64
	size  int
	bytes [maxFrame]byte
}

func newWaiting(s *Switch) *waiting {
	w := &waiting{
		s: s, pool: sync.Pool{New: func() any { return new(frame) }},
		wake: make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	go w.run()
	return w
}

// add copies a frame.
func (w *waiting) add(l *link, due time.Duration, bytes []byte) {
	f, _ := w.pool.Get().(*frame)
	f.link, f.due, f.size = l, due, copy(f.bytes[:], bytes)
	l.waiting.Add(1)
	w.mu.Lock()
	f.order = w.order
	w.order++
	heap.Push(&w.frames, f)
	first := w.frames[0] == f
	w.mu.Unlock()
	if first {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

func (w *waiting) close() {
	close(w.stop)
	<-w.ended
}

func (w *waiting) run() {
	defer close(w.ended)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-w.wake:
		case <-w.stop:
			return
		}
		if next, some := w.deliver(); some {
			timer.Reset(next)
		}
	}
}

// deliver delivers what is due, and says how long it is until the next one is.
func (w *waiting) deliver() (next time.Duration, some bool) {
	for {
		f, next, some := w.take(time.Since(w.s.began))
		if f == nil {
			return next, some
		}
		f.link.waiting.Add(-1)
		if w.s.policies.Load().of(f.link).Cut {
			f.link.counters.cut.Add(1)
		} else {
			f.link.deliver(f.bytes[:f.size])
		}
		w.pool.Put(f)
	}
}

func (w *waiting) take(now time.Duration) (f *frame, next time.Duration, some bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.frames) == 0 {
		return nil, 0, false
	}
	if first := w.frames[0]; first.due > now {
		return nil, first.due - now, true
	}
	f, _ = heap.Pop(&w.frames).(*frame)
	return f, 0, true
}

// queue is a heap of frames by when they are due.
type queue []*frame

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].due < q[j].due || (q[i].due == q[j].due && q[i].order < q[j].order)
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

// Push is heap.Interface's.
func (q *queue) Push(x any) { f, _ := x.(*frame); *q = append(*q, f) }

// Pop is heap.Interface's.
func (q *queue) Pop() any {
	last := len(*q) - 1
	f := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return f
}
