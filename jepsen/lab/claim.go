package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Every name of a lab begins with this.
const prefix = "omj-"

// claims is the directory of all labs' claims on this machine.
const claims = "/run/omj"

// claim is what a lab has of the machine. Its file is locked while the program
// lives that has it.
type claim struct {
	Name    string   `json:"name"` // omj-<pid>-<network>
	Network network  `json:"network"`
	Dirs    []string `json:"dirs"` // mounts and loop devices below these are the lab's

	file *os.File
}

func (c *claim) path() string { return filepath.Join(claims, c.Name+".json") }

// namespace of a host.
func (c *claim) namespace(id string) string { return c.Name + "-" + id }

// registry is all claims, while nobody else makes or sweeps one.
type registry struct {
	lock *os.File
	held []*claim // by living programs
	dead []*claim // locked by this call
}

// openRegistry waits until nobody else has it.
func openRegistry() (*registry, error) {
	if err := os.MkdirAll(claims, 0o700); err != nil {
		return nil, fmt.Errorf("labs are claimed in %s, which needs root: %w", claims, err)
	}
	lock, err := os.OpenFile(filepath.Join(claims, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	r := &registry{lock: lock}
	if err := lockFile(lock, true); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	if err := r.read(); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

func (r *registry) read() error {
	names, err := filepath.Glob(filepath.Join(claims, prefix+"*.json"))
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := r.readOne(name); err != nil {
			return err
		}
	}
	return nil
}

func (r *registry) readOne(name string) error {
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	c := &claim{file: file}
	alive := errors.Is(lockFile(file, false), errLocked)
	if err := json.NewDecoder(file).Decode(c); err != nil || c.path() != name {
		// Written in part by a program that was killed meanwhile: it has its name.
		*c = claim{Name: strings.TrimSuffix(filepath.Base(name), ".json"), file: file}
	}
	if alive {
		r.held = append(r.held, c)
		return file.Close()
	}
	r.dead = append(r.dead, c)
	return nil
}

// claim makes one for this program.
func (r *registry) claim(dirs []string) (*claim, error) {
	taken := make(map[network]bool)
	for _, c := range append(r.held, r.dead...) {
		taken[c.Network] = true
	}
	n, err := freeNetwork(taken)
	if err != nil {
		return nil, err
	}
	c := &claim{Name: fmt.Sprintf("%s%d-%d", prefix, os.Getpid(), n), Network: n, Dirs: dirs}
	if c.file, err = os.OpenFile(c.path(), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
		return nil, err
	}
	if err = lockFile(c.file, false); err == nil {
		err = json.NewEncoder(c.file).Encode(c)
	}
	if err != nil {
		return nil, errors.Join(err, c.forget())
	}
	return c, nil
}

// forget removes the claim: nothing is left of the lab.
func (c *claim) forget() error { return errors.Join(os.Remove(c.path()), c.file.Close()) }

func (r *registry) close() error {
	var errs []error
	for _, c := range r.dead {
		if c.file != nil {
			errs = append(errs, c.file.Close())
		}
	}
	return errors.Join(append(errs, r.lock.Close())...)
}
