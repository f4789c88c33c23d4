package disk

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strconv"
)

// names is the journal of what happened to names and is not durable yet, in order.
// A power cut undoes its end, as journaling file systems do.
type names struct {
	real    string // the directory
	gone    string // where files lie whose removal is not durable
	changes []nameChange
	count   *uint64 // of all changes of the disk
}

// maxNames bounds the journal: beyond, the oldest changes become durable, as they
// do on every file system after seconds.
const maxNames = 4096

// nameChange is one file or directory created, removed or renamed.
type nameChange struct {
	number   uint64 // counts all changes of the disk
	from, to string // relative; from is empty when it was created, to when it was removed
	id       fileID // of the file that was created or renamed
	isDir    bool
	mode     os.FileMode // of a directory that was removed
	gone     string      // where what was removed or replaced lies; empty without
}

func (n *names) path(relative string) string { return filepath.Join(n.real, relative) }

// created records a new name.
func (n *names) created(name string, id fileID, isDir bool) {
	n.add(nameChange{to: name, id: id, isDir: isDir})
}

// remove takes a name away; a file's content stays until that is durable.
func (n *names) remove(name string, isDir bool) error {
	c := nameChange{from: name, isDir: isDir}
	if isDir {
		info, err := os.Lstat(n.path(name))
		if err != nil {
			return err
		}
		c.mode = info.Mode().Perm()
		if err := os.Remove(n.path(name)); err != nil {
			return err
		}
		n.add(c)
		return nil
	}
	if err := n.putAside(name, &c); err != nil {
		return err
	}
	n.add(c)
	return nil
}

// rename gives a file another name, whose file stays until that is durable. Who
// looks sees one of the two at every moment: the layer holds its lock.
func (n *names) rename(from, to string, id fileID) error {
	c := nameChange{from: from, to: to, id: id}
	if info, err := os.Lstat(n.path(to)); err == nil && !info.IsDir() {
		if err := n.putAside(to, &c); err != nil {
			return err
		}
	}
	if err := os.Rename(n.path(from), n.path(to)); err != nil {
		if c.gone != "" {
			err = errors.Join(err, os.Rename(c.gone, n.path(to)))
		}
		return err
	}
	n.add(c)
	return nil
}

func (n *names) putAside(name string, c *nameChange) error {
	gone := filepath.Join(n.gone, strconv.FormatUint(*n.count, 10))
	if err := os.Rename(n.path(name), gone); err != nil {
		return err
	}
	c.gone = gone
	return nil
}

func (n *names) add(c nameChange) {
	c.number = *n.count
	*n.count++
	n.changes = append(n.changes, c)
	if len(n.changes) > maxNames {
		n.durable(1)
	}
}

// syncedFile makes durable what happened to a file's name before a number, and all
// before that.
func (n *names) syncedFile(id fileID, before uint64) {
	for i := len(n.changes); i > 0; i-- {
		if c := n.changes[i-1]; c.id == id && c.number < before {
			n.durable(i)
			return
		}
	}
}

// syncedDir makes durable what happened to names in a directory, and all before.
func (n *names) syncedDir(dir string) {
	for i := len(n.changes); i > 0; i-- {
		c := n.changes[i-1]
		if (c.from != "" && path.Dir(c.from) == dir) || (c.to != "" && path.Dir(c.to) == dir) {
			n.durable(i)
			return
		}
	}
}

// durable drops the oldest changes from the journal.
func (n *names) durable(count int) {
	for _, c := range n.changes[:count] {
		if c.gone != "" {
			os.Remove(c.gone) // what nobody can see any more may as well stay
		}
	}
	n.changes = n.changes[count:]
}

// undo takes back all changes but the oldest, newest first.
func (n *names) undo(keep int) error {
	for i := len(n.changes); i > keep; i-- {
		if err := n.undoOne(n.changes[i-1]); err != nil {
			return fmt.Errorf("power cut: undo %s -> %s: %w", n.changes[i-1].from, n.changes[i-1].to, err)
		}
	}
	n.changes = n.changes[:keep]
	n.durable(keep)
	return nil
}

func (n *names) undoOne(c nameChange) error {
	switch {
	case c.from == "":
		return os.Remove(n.path(c.to))
	case c.to == "" && c.isDir:
		return os.Mkdir(n.path(c.from), c.mode)
	case c.to == "":
		return os.Rename(c.gone, n.path(c.from))
	}
	if err := os.Rename(n.path(c.to), n.path(c.from)); err != nil {
		return err
	}
	if c.gone != "" {
		return os.Rename(c.gone, n.path(c.to))
	}
	return nil
}
