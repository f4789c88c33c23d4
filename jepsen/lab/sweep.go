package lab

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/omnikernel/omnikernel/jepsen/lab/netns"
)

// Swept is what was removed of labs.
type Swept struct {
	Labs       []string `json:"labs"` // that an ended program had left
	Processes  []int    `json:"processes"`
	Mounts     []string `json:"mounts"`
	Loops      []string `json:"loops"`
	Namespaces []string `json:"namespaces"`
}

// String says what was removed, a line for each kind; nothing when there was nothing.
func (s Swept) String() string {
	var lines []string
	add := func(what string, all []string) {
		if len(all) > 0 {
			lines = append(lines, "removed "+what+" left behind: "+strings.Join(all, " "))
		}
	}
	processes := make([]string, 0, len(s.Processes))
	for _, pid := range s.Processes {
		processes = append(processes, strconv.Itoa(pid))
	}
	add("labs", s.Labs)
	add("processes", processes)
	add("mounts", s.Mounts)
	add("loop devices", s.Loops)
	add("networks", s.Namespaces)
	return strings.Join(lines, "\n")
}

// Sweep removes what programs have left of their labs that ended without Close. It
// touches no lab of a living program. The error says what could not be removed; the
// next Sweep tries again.
func Sweep() (swept Swept, err error) {
	if err := netns.Usable(); err != nil {
		return swept, err
	}
	r, err := openRegistry()
	if err != nil {
		return swept, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	return swept, r.sweep(&swept)
}

func (r *registry) sweep(swept *Swept) error {
	var errs []error
	for _, c := range r.dead {
		if err := c.clean(swept); err != nil {
			errs = append(errs, fmt.Errorf("lab %s: %w", c.Name, err))
			continue
		}
		swept.Labs = append(swept.Labs, c.Name)
		errs = append(errs, c.forget())
		c.file = nil
	}
	return errors.Join(append(errs, r.sweepNameless(swept))...)
}

// sweepNameless removes namespaces of labs that nobody claims, and whose program has
// ended: tests make some without a claim.
func (r *registry) sweepNameless(swept *Swept) error {
	names, err := netns.List()
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		end := strings.LastIndexByte(name, '-')
		if !strings.HasPrefix(name, prefix) || end < len(prefix) {
			continue
		}
		lab := name[:end]
		claims := func(c *claim) bool { return c.Name == lab }
		if slices.ContainsFunc(r.held, claims) || slices.ContainsFunc(r.dead, claims) || programLives(lab) {
			continue
		}
		errs = append(errs, (&claim{Name: lab}).clean(swept))
	}
	return errors.Join(errs...)
}

// clean removes all that the lab has, processes first: they hold the rest.
func (c *claim) clean(swept *Swept) error {
	names, err := netns.List()
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, c.Name+"-") })
	processes, err := endProcesses(names)
	swept.Processes = append(swept.Processes, processes...)
	if err != nil {
		return err
	}
	mounts, err := unmountBelow(c.Dirs)
	swept.Mounts = append(swept.Mounts, mounts...)
	if err != nil {
		return err
	}
	loops, err := detachBelow(c.Dirs)
	swept.Loops = append(swept.Loops, loops...)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := netns.Delete(name); err != nil {
			return err
		}
		swept.Namespaces = append(swept.Namespaces, name)
	}
	return nil
}
