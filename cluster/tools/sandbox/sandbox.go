package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Level is how far processes are kept apart.
type Level string

// The levels. Auto takes Full where the kernel lets it, and Plain elsewhere.
const (
	Auto  Level = "auto"
	Full  Level = "full"  // own namespaces and file systems
	Plain Level = "plain" // limits and no new privileges only
)

// Options say where a node's processes run, and what they see.
type Options struct {
	Level    Level
	Dir      string   // the node's own, for working directories; what an earlier process left there is removed
	Programs string   // the directory of programs
	Read     []string // directories that they may read besides
	Write    []string // … and write
	UID      int      // user and group that they run as, if the node is root
}

// Limits of one process. All are set; those of memory, CPU time and, at level Plain,
// files hold for each process that it starts, too.
type Limits struct {
	CPUSeconds  uint64 `json:"cpu"`
	MemoryBytes uint64 `json:"memory"`    // of address space
	FileBytes   uint64 `json:"file"`      // in all that it writes at level Full; of each file
	Processes   uint64 `json:"processes"` // and threads, at once
}

// Command is what to start.
type Command struct {
	Program string // a file of the directory of programs, by its plain name
	Args    []string
	Env     []string // NAME=value; PATH, HOME, TMPDIR and LANG are there already
	Limits  Limits
	Network bool // leave it the node's network
}

// Exit is how a process ended.
type Exit struct {
	Err    error // it was not started: a *StartError; or nobody knows: errLost
	Status int
	Signal int // that ended it, or 0
}

// StartError says why a process was not started, by our own word for the step.
type StartError struct {
	Step string // "programs", "mounts", "exec" …
	Err  error
}

func (e *StartError) Error() string { return fmt.Sprintf("sandbox: %s: %v", e.Step, e.Err) }

func (e *StartError) Unwrap() error { return e.Err }

// What is wrong with the name of a program.
var (
	ErrName       = errors.New("must be the plain name of a file: letters, digits, ., _ and -, not beginning with a dot, at most 128 bytes")
	ErrAbsent     = errors.New("is no file in the directory of programs, or a link that leads out of it")
	ErrExecutable = errors.New("is no file that everybody may execute")

	errLost = errors.New("sandbox: the process ended, and nobody says how")
)

// IsName tells whether a text can be the name of a program.
func IsName(name string) bool {
	if name == "" || len(name) > 128 || name[0] == '.' {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// Find says what is wrong with a program of the directory; nil when it can be started.
func Find(dir, name string) error {
	if !IsName(name) {
		return ErrName
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ErrAbsent
	}
	defer root.Close()
	file, err := root.Stat(name) // which follows no link out of the directory
	switch {
	case err != nil:
		return ErrAbsent
	case !file.Mode().IsRegular() || file.Mode()&0o111 != 0o111:
		return ErrExecutable
	}
	return nil
}

// check makes the paths absolute and looks whether they are there.
func (o *Options) check() (err error) {
	if o.Programs, err = directory(o.Programs); err != nil {
		return err
	}
	for _, list := range [...][]string{o.Read, o.Write} {
		for i := range list {
			if list[i], err = directory(list[i]); err != nil {
				return err
			}
		}
	}
	switch o.Level {
	case Auto, Full, Plain:
		return nil
	}
	return fmt.Errorf("sandbox: level %q: must be auto, full or plain", o.Level)
}

func directory(path string) (string, error) {
	whole, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if whole, err = filepath.EvalSymlinks(whole); err != nil {
		return "", err
	}
	file, err := os.Stat(whole)
	if err != nil {
		return "", err
	}
	if !file.IsDir() {
		return "", fmt.Errorf("%s is no directory", path)
	}
	return whole, nil
}

// endsWithin is how long the end of a process takes that was killed, at most.
const endsWithin = 5 * time.Second
