package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/omnikernel/omnikernel/jepsen/history"
)

// maxNodes of a lab.
const maxNodes = 9

// Plan says what a lab shall be.
type Plan struct {
	Dir   string   // where logs and, if nothing else is said, data go; it is made
	Omni  string   // the program
	Nodes int      // 3 or 5, and up to 9: they are called n1, n2, …
	Store string   // of the Raft log: bolt or wal; the program's default when empty
	Flags []string // more of every node's, such as --snapshot-bytes 1048576
	Seed  uint64   // of the switch's chances
	Data  []string // the nodes' data directories; below Dir when empty

	// Life is told what happens to processes, from several goroutines; nil is nobody.
	// It must not call the lab.
	Life func(history.Life)
}

func (p *Plan) check() error {
	switch {
	case p.Dir == "":
		return errors.New("a lab needs a directory")
	case p.Nodes < 1 || p.Nodes > maxNodes:
		return fmt.Errorf("a lab has 1 to %d nodes, not %d", maxNodes, p.Nodes)
	case len(p.Data) != 0 && len(p.Data) != p.Nodes:
		return fmt.Errorf("a lab of %d nodes has as many data directories, not %d", p.Nodes, len(p.Data))
	}
	info, err := os.Stat(p.Omni)
	if err != nil {
		return fmt.Errorf("the program that nodes run: %w", err)
	}
	if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return fmt.Errorf("the program that nodes run: %s is no program", p.Omni)
	}
	return nil
}

// absolute makes the directories, and gives each of them its full path, without
// symbolic links: mounts are known by that.
func (p *Plan) absolute() (err error) {
	if p.Omni, err = filepath.Abs(p.Omni); err != nil {
		return err
	}
	if p.Dir, err = directory(p.Dir); err != nil {
		return err
	}
	data := make([]string, p.Nodes)
	for i := range data {
		dir := filepath.Join(p.Dir, nodeID(i))
		if len(p.Data) > 0 {
			dir = p.Data[i]
		}
		if data[i], err = directory(dir); err != nil {
			return err
		}
	}
	p.Data = data
	return nil
}

func directory(path string) (string, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return "", err
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

func nodeID(i int) string { return fmt.Sprintf("n%d", i+1) }
