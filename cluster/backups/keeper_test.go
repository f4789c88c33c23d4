package backups_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/backups"
	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// blocks are a log in memory.
type blocks [][]byte

func (b blocks) Whole(uint64) error { return nil }

func (b blocks) Walk(_ uint64, visit func(*segment.Item) bool) (next uint64, err error) {
	var position uint64
	for _, raw := range b {
		block, err := logging.Decode(raw)
		if err != nil || !visit(&segment.Item{Position: position, FirstSeq: block.FirstSeq, Block: block}) {
			return next, err
		}
		position += uint64(len(raw))
	}
	return next, nil
}

// site is a kernel, and the directory of its backups.
type site struct {
	*kerneltest.Sim
	dir string

	mu     sync.Mutex // guards the simulation and what follows: the keeper has a goroutine of its own
	fails  error      // what writing a backup answers
	spoils bool       // … or does
}

// State is a published one.
func (s *site) State() *state.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Sim.State()
}

// breaks says what goes wrong from now on.
func (s *site) breaks(fails error, spoils bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails, s.spoils = fails, spoils
}

// now is the log so far, and what goes wrong.
func (s *site) now() (log blocks, spoils bool, fails error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return blocks(s.Blocks), s.spoils, s.fails
}

func newSite(t *testing.T) *site {
	return &site{Sim: kerneltest.New(t, 1), dir: t.TempDir()}
}

func (s *site) options() backups.Options {
	return backups.Options{
		Dir: s.dir, Every: time.Hour, Keep: 3, Node: "n1", State: s.State,
		Write: func(ctx context.Context, st *state.State, to io.Writer) (backup.Summary, error) {
			log, spoils, fails := s.now()
			if fails != nil {
				_, _ = to.Write([]byte("half a backup"))
				return backup.Summary{}, fails
			}
			if spoils {
				to = spoiled{to}
			}
			return backup.Write(ctx, to, backup.Source{State: st, Log: log, Node: "n1", Binary: "v0", MadeAt: time.Now()})
		},
		Pace: func(context.Context, int) bool { return true },
		Wall: time.Now, Logger: hclog.NewNullLogger(),
	}
}

// spoiled is a disk that turns a bit.
type spoiled struct{ to io.Writer }

func (s spoiled) Write(b []byte) (int, error) {
	b = bytes.Clone(b)
	b[len(b)/2] ^= 1
	return s.to.Write(b)
}

// run runs a keeper within a bubble of virtual time, for the length of a test.
func run(t *testing.T, o backups.Options) (k *backups.Keeper, stop func()) {
	t.Helper()
	k, err := backups.New(o)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); k.Run(ctx) }()
	synctest.Wait()
	return k, func() { cancel(); <-done }
}

func (s *site) pass(d time.Duration) {
	time.Sleep(d) // virtual
	synctest.Wait()
}

func (s *site) work() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Must(event.AgentDefine, event.Define{})
}

func (s *site) files(t *testing.T) (names []string) {
	entries, err := os.ReadDir(s.dir)
	require.NoError(t, err)
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// Backups come by the clock, each as of the newest state and sound; the oldest make
// room. Nothing that happened is no reason for one.
func TestBackupsByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		k, stop := run(t, s.options())
		defer stop()
		require.Len(t, s.files(t), 1, "the first one at once")
		first := k.Status()
		require.Equal(t, filepath.Join(s.dir, s.files(t)[0]), first.File)
		require.EqualValues(t, 1, first.Index)
		require.Equal(t, time.Now().Add(time.Hour).UnixMilli(), first.NextMillis)
		require.NotZero(t, first.Bytes)

		s.pass(59 * time.Minute)
		s.work()
		require.Len(t, s.files(t), 1)
		s.pass(time.Minute)
		require.Len(t, s.files(t), 2)
		s.pass(5 * time.Hour)
		require.Len(t, s.files(t), 2, "nothing has happened")
		idle := k.Status()
		require.EqualValues(t, 2, idle.Index)
		require.Equal(t, time.Now().UnixMilli(), idle.CurrentMillis, "and it still holds everything")
		require.Less(t, idle.AtMillis, idle.CurrentMillis)
		for range 5 {
			s.work()
			s.pass(time.Hour)
		}
		names := s.files(t)
		require.Len(t, names, 3)
		require.NotContains(t, names, filepath.Base(first.File))
		for i, name := range names {
			f, err := os.Open(filepath.Join(s.dir, name))
			require.NoError(t, err)
			sum, err := backup.Copy(t.Context(), io.Discard, f, nil)
			require.NoError(t, err)
			require.NoError(t, f.Close())
			require.EqualValues(t, 5+i, sum.Index)
			require.Equal(t, backup.NameOf(sum.Header).String(), name)
		}
	})
}

// A restart neither repeats a backup nor delays one; what a process left unfinished
// goes, and what is somebody else's stays.
func TestKeeperAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		_, stop := run(t, s.options())
		s.work()
		s.pass(20 * time.Minute)
		stop()
		others := []string{
			".backup-n2@123.partial", "notes.txt",
			backup.Name{MadeAt: time.Now().Add(-time.Hour), Index: 1, Node: "n2", Kernel: "default", Of: "test"}.String(),
			backup.Name{MadeAt: time.Now().Add(-time.Hour), Index: 1, Node: "n1", Kernel: "default", Of: "other"}.String(),
			backup.Name{MadeAt: time.Now().Add(-time.Hour), Index: 1, Node: "n1", Kernel: "second", Of: "test"}.String(),
		}
		for _, name := range append(others, ".backup-n1@123.partial") {
			require.NoError(t, os.WriteFile(filepath.Join(s.dir, name), nil, 0o600))
		}
		o := s.options()
		o.Keep = 1
		k, stop := run(t, o)
		defer stop()
		require.NotContains(t, s.files(t), ".backup-n1@123.partial")
		require.Len(t, s.files(t), len(others)+1)
		require.EqualValues(t, 1, k.Status().Index, "what is there is known")
		s.pass(39 * time.Minute)
		require.EqualValues(t, 1, k.Status().Index)
		s.pass(time.Minute)
		require.EqualValues(t, 2, k.Status().Index)
		require.Len(t, s.files(t), len(others)+1)
		require.Subset(t, s.files(t), others)
	})
}

// What fails leaves nothing behind, is told, and is tried again soon; what is there
// stays until a better one is.
func TestKeeperFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		o := s.options()
		o.Keep = 1
		k, stop := run(t, o)
		defer stop()
		kept := s.files(t)
		s.work()
		s.breaks(&segment.HistoryBehindError{FirstSeq: 9}, false)
		s.pass(time.Hour)
		status := k.Status()
		require.Contains(t, status.Error, "history begins at busSeq 9")
		require.Equal(t, time.Now().UnixMilli(), status.FailedMillis)
		require.Equal(t, time.Now().Add(time.Minute).UnixMilli(), status.NextMillis)
		require.EqualValues(t, 1, status.Failures)
		require.Equal(t, kept, s.files(t))

		s.breaks(nil, true)
		s.pass(time.Minute)
		require.Contains(t, k.Status().Error, "cannot be read back: backup: broken at byte")
		require.EqualValues(t, 2, k.Status().Failures)
		require.Equal(t, kept, s.files(t), "an old backup that is sound is worth more than a new one that is not")

		s.breaks(nil, false)
		s.pass(time.Minute)
		status = k.Status()
		require.Empty(t, status.Error)
		require.Zero(t, status.Failures)
		require.EqualValues(t, 2, status.Index)
		require.Len(t, s.files(t), 1)
		require.NotEqual(t, kept, s.files(t))

		require.NoError(t, os.RemoveAll(s.dir))
		s.work()
		s.pass(time.Hour)
		require.Contains(t, k.Status().Error, "no such file or directory")
	})
}

// A clock that was off delays nothing, and one that has not begun makes nothing.
func TestKeepersClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		ahead := backup.Name{MadeAt: time.Now().Add(1000 * time.Hour), Index: 9, Node: "n1", Kernel: "default", Of: "test"}.String()
		require.NoError(t, os.WriteFile(filepath.Join(s.dir, ahead), nil, 0o600))
		k, stop := run(t, s.options())
		require.Len(t, s.files(t), 2)
		require.EqualValues(t, 1, k.Status().Index)
		stop()

		s = newSite(t)
		o := s.options()
		var booted atomic.Bool
		o.State = func() *state.State {
			if !booted.Load() {
				return state.New("default")
			}
			return s.State()
		}
		_, stop = run(t, o)
		defer stop()
		s.pass(time.Minute)
		require.Empty(t, s.files(t))
		booted.Store(true)
		s.pass(10 * time.Second)
		require.Len(t, s.files(t), 1)
	})
}

// A keeper that is stopped leaves nothing half done; one that makes no sense does not
// begin.
func TestKeeperStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		o := s.options()
		var paced atomic.Int64
		o.Pace = func(ctx context.Context, bytes int) bool {
			paced.Add(int64(bytes))
			if strings.HasPrefix(s.files(t)[0], ".backup-n1@") {
				<-ctx.Done()
			}
			return ctx.Err() == nil
		}
		k, stop := run(t, o)
		require.NotZero(t, paced.Load())
		stop()
		require.Empty(t, s.files(t))
		require.Empty(t, k.Status().Error, "to stop is no failure")
	})
	for field, change := range map[string]func(*backups.Options){
		"directory": func(o *backups.Options) { o.Dir = "" },
		"too often": func(o *backups.Options) { o.Every = time.Millisecond },
		"be kept":   func(o *backups.Options) { o.Keep = 0 },
		"mkdir":     func(o *backups.Options) { o.Dir = filepath.Join(os.DevNull, "x") },
	} {
		o := newSite(t).options()
		change(&o)
		_, err := backups.New(o)
		require.ErrorContains(t, err, field)
	}
}

// withoutArchive is a log whose second block is only a stub.
type withoutArchive struct{ blocks }

func (w withoutArchive) Whole(uint64) error {
	b, err := logging.Decode(w.blocks[2])
	return errors.Join(err, &segment.CompactedError{FirstSeq: b.FirstSeq})
}

func (w withoutArchive) Walk(seq uint64, visit func(*segment.Item) bool) (next uint64, err error) {
	return w.blocks.Walk(seq, func(i *segment.Item) bool {
		if i.Position == uint64(len(w.blocks[0])) {
			i.Stub, i.Block = logging.StubOf(&i.Block), logging.Block{}
		}
		return visit(i)
	})
}

// A backup by the clock of a node without its archive is made, and the node's log says
// what it lacks.
func TestBackupsWithoutTheArchive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t)
		for range 5 {
			s.work()
		}
		var said bytes.Buffer
		o := s.options()
		o.Logger = hclog.New(&hclog.LoggerOptions{Output: &said, DisableTime: true})
		o.Write = func(ctx context.Context, st *state.State, to io.Writer) (backup.Summary, error) {
			log, _, _ := s.now()
			return backup.Write(ctx, to, backup.Source{State: st, Log: withoutArchive{log}, Node: "n1", Binary: "v0", MadeAt: time.Now()})
		}
		k, stop := run(t, o)
		s.pass(time.Second)
		stop()
		require.Empty(t, k.Status().Error)
		require.NotEmpty(t, k.Status().File)
		require.Contains(t, said.String(), "the backup is not whole: this node does not have its archive")
		require.Contains(t, said.String(), "digests only=1")
	})
}
