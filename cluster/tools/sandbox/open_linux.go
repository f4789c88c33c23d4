package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Sandbox starts processes. It is used on many goroutines at once.
type Sandbox struct {
	options Options
	level   Level
	why     error    // it is not Full
	own     string   // this node process's directory
	lock    *os.File // … which is nobody else's while it lives
}

// Open makes one, and tries it. At level Auto it is Plain where Full does not work.
func Open(o Options) (*Sandbox, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	if os.Geteuid() != 0 {
		o.UID = -1
	}
	s := &Sandbox{options: o, level: o.Level}
	if err := s.claim(); err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	err := s.try()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Level is how far processes are kept apart.
func (s *Sandbox) Level() Level { return s.level }

// Why says what kept the level from being Full; nil where nothing did.
func (s *Sandbox) Why() error { return s.why }

// try settles the level.
func (s *Sandbox) try() error {
	if s.options.Level != Plain {
		s.level = Full
		if s.why = s.probe(); s.why == nil {
			return nil
		}
		if s.options.Level == Full {
			return fmt.Errorf("this machine does not let programs have namespaces of their own, which is asked for: %w", s.why)
		}
	}
	s.level = Plain
	err := s.probe()
	var start *StartError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &start) && errors.Is(err, unix.EACCES) && s.options.UID >= 0:
		return fmt.Errorf("user %d, whom programs run as, cannot %s: name a directory that everybody may pass, or another user: %w", s.options.UID, start.Step, err)
	}
	if errors.Is(err, unix.EINVAL) && s.options.UID > 0 {
		return fmt.Errorf("there may be no user %d here, whom programs run as: name another: %w", s.options.UID, err)
	}
	return err
}

// probesWithin is far more than it takes where the directories that programs see answer.
const probesWithin = 30 * time.Second

func (s *Sandbox) probe() error {
	p, err := s.start(&spec{Probe: true, Limits: Limits{FileBytes: 1 << 20}}, false)
	if err != nil {
		return err
	}
	_ = p.Stdin.Close()
	ctx, cancel := context.WithTimeout(context.Background(), probesWithin)
	defer cancel()
	defer context.AfterFunc(ctx, p.Kill)()
	exit := p.Wait()
	if exit.Err == nil && (exit.Status != 0 || exit.Signal != 0) {
		return errLost
	}
	return exit.Err
}

// claim makes the directory of this node process, and removes those of earlier ones:
// their locks are nobody's.
func (s *Sandbox) claim() error {
	dir := s.options.Dir
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return err
	}
	dir, err := directory(dir)
	if err != nil {
		return err
	}
	all, err := filepath.Glob(filepath.Join(dir, ownPrefix+"*"))
	if err != nil {
		return err
	}
	for _, left := range all {
		if held, err := lockOf(left); err == nil {
			err = errors.Join(removeAll(left), held.Close())
			if err != nil {
				return err
			}
		}
	}
	if s.own, err = os.MkdirTemp(dir, ownPrefix); err != nil {
		return err
	}
	if err := os.Chmod(s.own, 0o711); err != nil {
		return err
	}
	if s.lock, err = lockOf(s.own); err != nil {
		return err
	}
	return os.Mkdir(s.root(), 0o700)
}

const (
	ownPrefix  = "omni-tools-"
	workPrefix = "omni-tool-"
)

// root is where the new root is mounted, each time in another mount namespace.
func (s *Sandbox) root() string { return filepath.Join(s.own, "root") }

// lockOf locks the directory of a node process; it fails while that process lives.
func lockOf(dir string) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// Close removes the node's directory. What runs is over when the node's process is.
func (s *Sandbox) Close() error {
	if s.lock == nil {
		return nil
	}
	return errors.Join(removeAll(s.own), s.lock.Close())
}

// removeAll removes a directory, also where a program took its own rights away.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if entry != nil && entry.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return err
	})
	return os.RemoveAll(dir)
}
