package traffic

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/omnikernel/omnikernel/jepsen/model"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

const (
	remembered = 24 // commands that a worker sends again
	keysMost   = 15 // idempotency keys a second, in the long run: a cluster remembers 20,000 for ten minutes
)

// Repeat sends the same command again and again, under the same idempotency key or
// the same number of a session, to several nodes at once, whether it has an answer
// or not.
type Repeat struct {
	mu      sync.Mutex // guards what follows
	made    int64
	keyed   int64
	through *http.Client
	writers map[int]*writer
}

// writer is one worker's session and what it sends again. Only that worker uses it.
type writer struct {
	session string
	next    uint64 // sequence
	floor   uint64 // lowest that it may send again
	sent    []attempt
	past    []attempt // of the session, below the floor
}

// Name implements Workload.
func (*Repeat) Name() string { return model.Repeat }

// Setup implements Workload.
func (r *Repeat) Setup(context.Context, *Env) error {
	r.through = &http.Client{
		Timeout:       Patience,
		Transport:     &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	r.writers = make(map[int]*writer)
	return nil
}

// Work implements Workload.
func (r *Repeat) Work(ctx context.Context, w *Worker) {
	s := r.writer(w.Number)
	switch n := w.Dice.IntN(100); {
	case len(s.sent) == 0 || n < 30:
		if fresh, ok := r.fresh(ctx, w, s); ok {
			s.remember(fresh)
			r.several(ctx, w, s, fresh)
		}
	case n < 35 && len(s.past) > 0: // whose answer is not wanted any more
		r.several(ctx, w, s, s.past[w.Dice.IntN(len(s.past))])
	default:
		r.several(ctx, w, s, s.sent[w.Dice.IntN(len(s.sent))])
	}
}

func (r *Repeat) writer(number int) *writer {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.writers[number] == nil {
		r.writers[number] = new(writer)
	}
	return r.writers[number]
}

// fresh makes a command that nobody has sent. False when it cannot be named.
func (r *Repeat) fresh(ctx context.Context, w *Worker, s *writer) (a attempt, ok bool) {
	r.mu.Lock()
	r.made++
	n := r.made
	byKey := w.Dice.IntN(2) == 0 && float64(r.keyed) < 100+keysMost*float64(w.Record.Now())/1e9
	if byKey {
		r.keyed++
	}
	r.mu.Unlock()
	a = attempt{key: fmt.Sprintf("repeat-%d", n)}
	switch w.Dice.IntN(3) {
	case 0:
		put := event.PutShared{Namespace: model.Repeat, Key: a.key, Value: value.AppendInt(nil, n)}
		a.path, a.sent, a.body = "/shared/"+model.Repeat+"/put", put, api.PutBody{Key: put.Key, Value: put.Value}
	case 1:
		define := event.Define{Name: a.key} // the kernel makes the id: doing it twice would make two
		a.path, a.sent, a.body = "/agents", define, define
	default:
		start := event.Start{Define: event.Define{Name: a.key, Program: programs[string(model.Note)]}}
		a.path, a.sent, a.body = "/agents/start", start, start
	}
	if byKey {
		a.in.Key = a.key
		return a, true
	}
	if s.session == "" {
		ctx, cancel := w.Within(ctx)
		defer cancel()
		id, err := mint(ctx, r.through, w.Nodes[w.Dice.IntN(len(w.Nodes))])
		if err != nil {
			return a, false
		}
		*s = writer{session: id, next: 1, floor: 1}
	}
	a.in.Session, a.in.Sequence = s.session, s.next
	s.next++
	return a, true
}

// remember keeps a command, and raises the floor above what is forgotten.
func (s *writer) remember(a attempt) {
	s.sent = append(s.sent, a)
	if len(s.sent) <= remembered {
		return
	}
	if over := s.sent[0]; over.in.Session != "" {
		s.past = append(s.past, over)
		s.floor = over.in.Sequence + 1
	}
	s.sent = s.sent[1:]
	if len(s.past) > remembered {
		s.past = s.past[1:]
	}
}

// several sends a command to one to all nodes at once.
func (r *Repeat) several(ctx context.Context, w *Worker, s *writer, a attempt) {
	ctx, cancel := w.Within(ctx)
	defer cancel()
	// An old one is sent as it was: with a floor that is below what the session
	// has by now.
	a.floor = min(s.floor, a.in.Sequence)
	nodes := w.Dice.Perm(len(w.Nodes))[:1+w.Dice.IntN(len(w.Nodes))]
	codes := make([]string, len(nodes))
	var sending sync.WaitGroup
	for i, n := range nodes {
		one := a
		one.to = w.Nodes[n]
		process := w.Env.Process()
		sending.Go(func() { codes[i] = one.send(ctx, w.Env, process, r.through) })
	}
	sending.Wait()
	w.calls += len(nodes)
	for _, code := range codes {
		if code == api.CodeSessionExpired || code == "SESSIONS_FULL" {
			*s = writer{} // what was open in it stays as it is
		}
	}
}

// Finish repeats what each worker remembers once more, now that nothing is wrong.
func (r *Repeat) Finish(ctx context.Context, e *Env) error {
	w := e.worker(Load{Workload: r, Workers: 1}, 0)
	for _, s := range r.writers {
		for _, a := range s.sent {
			a.floor = min(s.floor, a.in.Sequence)
			for _, to := range w.Nodes {
				a.to = to
				a.send(ctx, e, e.Process(), r.through)
			}
		}
	}
	return nil
}
