package backups

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// Options of a Keeper.
type Options struct {
	Dir   string        // made when it is missing
	Every time.Duration // between two backups
	Keep  int           // how many stay

	Node string // whose backups they are
	// State is the newest one; nil while there is nothing to back up.
	State func() *state.State
	// Write writes a backup of that state.
	Write func(ctx context.Context, s *state.State, to io.Writer) (backup.Summary, error)
	// Pace waits until so many bytes may be read and written; false ends the attempt.
	Pace func(ctx context.Context, bytes int) bool

	Wall   func() time.Time
	Logger hclog.Logger
}

// Times of the Keeper's own.
const (
	againAfter = time.Minute     // after a failure, unless Every is shorter
	bootAfter  = 5 * time.Second // while there is no state yet
)

// Status of scheduled backups.
type Status struct {
	Dir           string `json:"dir" cbor:"1,keyasint"`
	File          string `json:"file,omitempty" cbor:"2,keyasint"`               // the newest one; empty when there is none
	Index         uint64 `json:"index,omitempty" cbor:"3,keyasint"`              // Raft index of the last event in it
	AtMillis      int64  `json:"at_ms,omitempty" cbor:"4,keyasint"`              // when it was made, Unix milliseconds
	Bytes         int64  `json:"bytes,omitempty" cbor:"5,keyasint"`              // of it
	CurrentMillis int64  `json:"current_ms,omitempty" cbor:"6,keyasint"`         // when it was last known to hold everything
	NextMillis    int64  `json:"next_ms,omitempty" cbor:"7,keyasint"`            // when the next one is due
	Error         string `json:"error,omitempty" cbor:"8,keyasint"`              // why the last attempt failed; empty when it did not
	FailedMillis  int64  `json:"failed_ms,omitempty" cbor:"9,keyasint"`          // when it did
	Failures      uint64 `json:"failures_in_a_row,omitempty" cbor:"10,keyasint"` // since the newest one
}

// Keeper makes backups by the clock.
type Keeper struct {
	o Options

	mu     sync.Mutex // guards status
	status Status
}

// New checks the options and the directory. What an earlier process of this node
// left unfinished there is removed.
func New(o Options) (*Keeper, error) {
	switch {
	case o.Dir == "":
		return nil, errors.New("backups: need a directory")
	case o.Every < time.Second:
		return nil, fmt.Errorf("backups: every %v is too often: at least 1s", o.Every)
	case o.Keep < 1:
		return nil, fmt.Errorf("backups: %d cannot be kept: at least 1", o.Keep)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("backups: %w", err)
	}
	k := &Keeper{o: o, status: Status{Dir: o.Dir}}
	return k, k.removePartial()
}

// Status tells how things stand.
func (k *Keeper) Status() Status {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.status
}

func (k *Keeper) note(change func(*Status)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change(&k.status)
}

// Run makes backups until the context ends.
func (k *Keeper) Run(ctx context.Context) {
	for ctx.Err() == nil {
		wait := bootAfter
		if s := k.o.State(); s != nil && s.Config != nil {
			wait = k.step(ctx, s)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// step makes a backup if one is due, and says how long to wait then.
func (k *Keeper) step(ctx context.Context, s *state.State) time.Duration {
	own, err := k.list(s.Config.ClusterID, s.Config.KernelID)
	if err != nil {
		return k.failed(err)
	}
	now := k.o.Wall()
	if newest := k.newest(own, now); newest != nil {
		if left := newest.name.MadeAt.Add(k.o.Every).Sub(now); left > 0 {
			return k.next(now, left)
		}
		if newest.name.Index == s.Index {
			k.note(func(st *Status) { st.CurrentMillis, st.Error, st.Failures = now.UnixMilli(), "", 0 })
			return k.next(now, k.o.Every)
		}
	}
	began := time.Now()
	sum, err := k.make(ctx, s)
	if ctx.Err() != nil {
		return 0 // the node stops: no failure
	}
	if err != nil {
		return k.failed(err)
	}
	if sum.FullFrom > 0 {
		k.o.Logger.Warn("the backup is not whole: this node does not have its archive", "full from busSeq", sum.FullFrom, "digests only", sum.Stubs)
	}
	k.o.Logger.Info("backup made", "index", sum.Index, "bytes", sum.Bytes, "took", time.Since(began).Round(time.Millisecond))
	k.note(func(st *Status) { st.CurrentMillis, st.Error, st.Failures = now.UnixMilli(), "", 0 })
	own, err = k.list(s.Config.ClusterID, s.Config.KernelID)
	if err == nil {
		k.newest(own, k.o.Wall())
		err = k.prune(own)
	}
	if err != nil {
		return k.failed(err)
	}
	return k.next(now, k.o.Every)
}

func (k *Keeper) next(now time.Time, wait time.Duration) time.Duration {
	k.note(func(st *Status) { st.NextMillis = now.Add(wait).UnixMilli() })
	return wait
}

func (k *Keeper) failed(err error) time.Duration {
	now, wait := k.o.Wall(), min(k.o.Every, againAfter)
	k.note(func(st *Status) {
		st.Error, st.FailedMillis = err.Error(), now.UnixMilli()
		st.Failures++
	})
	k.o.Logger.Error("the backup that was due could not be made", "dir", k.o.Dir, "error", err, "again in", wait)
	return k.next(now, wait)
}

// make writes a backup, reads it back, and gives it its name.
func (k *Keeper) make(ctx context.Context, s *state.State) (sum backup.Summary, err error) {
	paced := &pacedWriter{ctx: ctx, pace: k.o.Pace}
	_, err = backup.Save(k.o.Dir, k.partial(), func(f *os.File) error {
		paced.to = f
		if sum, err = k.o.Write(ctx, s, paced); err != nil {
			return err
		}
		return k.readBack(ctx, f, sum)
	}, func() string { return backup.NameOf(sum.Header).String() })
	return sum, err
}

// readBack checks what is on disk, before an older one makes room for it.
func (k *Keeper) readBack(ctx context.Context, f *os.File, sum backup.Summary) error {
	if err := f.Sync(); err != nil {
		return fmt.Errorf("backups: %w", err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("backups: %w", err)
	}
	found, err := backup.Copy(ctx, io.Discard, &pacedReader{ctx: ctx, from: f, pace: k.o.Pace}, nil)
	if err != nil {
		return fmt.Errorf("backups: what was written cannot be read back: %w", err)
	}
	if found != sum {
		return errors.New("backups: what was written reads back as something else")
	}
	return nil
}

var errPaced = errors.New("backups: ended")

// pacedWriter lets bytes through at the pace that leaves commands their disks.
type pacedWriter struct {
	ctx  context.Context
	to   io.Writer
	pace func(ctx context.Context, bytes int) bool
}

func (p *pacedWriter) Write(b []byte) (int, error) {
	if !p.pace(p.ctx, len(b)) {
		return 0, errPaced
	}
	return p.to.Write(b)
}

type pacedReader struct {
	ctx  context.Context
	from io.Reader
	pace func(ctx context.Context, bytes int) bool
}

func (p *pacedReader) Read(b []byte) (int, error) {
	n, err := p.from.Read(b)
	if n > 0 && !p.pace(p.ctx, n) {
		return 0, errPaced
	}
	return n, err
}
