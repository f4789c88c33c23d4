package datadir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/omnikernel/omnikernel/kernel/config"
)

// Names of files. node.json says what a data directory belongs to.
const (
	nodeFile     = "node.json"
	divergedFile = "DIVERGED"
	removedFile  = "REMOVED"
	outlivedFile = "OUTLIVED"
)

// Formats of node.json. A directory that a binary of kernel version 1 may open has 0.
const (
	formatVersion = 1 // it says what kernel version the data needs
	formatLineage = 2 // … and which recoveries it has been through
	dirFormat     = formatLineage
)

// KernelDir is where a kernel's data is: a node will host several.
func KernelDir(dir, kernelID string) string { return filepath.Join(dir, "kernels", kernelID) }

// RaftDir is where the Raft log and the snapshots of a kernel are.
func RaftDir(dir, kernelID string) string { return filepath.Join(KernelDir(dir, kernelID), "raft") }

// LogDir is where the execution log of a kernel is.
func LogDir(dir, kernelID string) string { return filepath.Join(KernelDir(dir, kernelID), "log") }

// owner is the content of node.json.
type owner struct {
	Format  int    `json:"format"`
	Cluster string `json:"cluster_id"`
	Node    string `json:"node_id"`

	// KernelVersion is what the data needs of a binary that opens it (EV-9); absent in
	// format 0, whose data is of version 1.
	KernelVersion uint32 `json:"kernel_version,omitempty"`

	// Lineage is which recoveries of the cluster the data has been through (ME-9), and
	// Sum the checksum of it all then; absent before format 2.
	Lineage string `json:"lineage,omitempty"`
	Sum     string `json:"sum,omitempty"`
}

// Errors of Claim that tell an operator to look at the data directory.
var (
	ErrForeign   = errors.New("cluster: the data directory belongs to another cluster or node")
	ErrNewer     = errors.New("cluster: the data directory was written by a newer version, and this binary cannot use it: start the node with the binary that it ran before, or a newer one")
	ErrRestoring = errors.New("cluster: a restore into the data directory was cut short: run omni backup restore again")
	ErrDiverged  = errors.New("cluster: this replica differed from the majority and must not be used again: move its data directory away and add the node anew, under a new id")
)

// ErrRemoved says that the node is no member of its cluster any more.
var ErrRemoved = errors.New("cluster: this node was removed from its cluster, and its id must not come back: move its data directory away, and join with an empty one under a new id (omni cluster join)")

// ErrOutlived says that the cluster goes on without what this node has.
var ErrOutlived = errors.New("cluster: after a majority was lost this cluster was recovered without this node (omni cluster recover), and what it has is not part of the cluster any more: move its data directory away, and join with an empty one (omni cluster join)")

// Claim makes the data directory this node's, or refuses it.
func Claim(dir, cluster, node string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("cluster: data directory: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, divergedFile)); err == nil {
		return fmt.Errorf("%w (%s)", ErrDiverged, dir)
	}
	if _, err := os.Stat(filepath.Join(dir, removedFile)); err == nil {
		return fmt.Errorf("%w (%s)", ErrRemoved, dir)
	}
	if _, err := os.Stat(filepath.Join(dir, outlivedFile)); err == nil {
		return fmt.Errorf("%w (%s)", ErrOutlived, dir)
	}
	if restoring(dir) {
		return fmt.Errorf("%w (%s)", ErrRestoring, dir)
	}
	path := filepath.Join(dir, nodeFile)
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return writeOwner(path, owner{Cluster: cluster, Node: node})
	}
	if err != nil {
		return fmt.Errorf("cluster: data directory: %w", err)
	}
	found, err := readOwner(content)
	if err != nil {
		return fmt.Errorf("cluster: %s does not parse: %w: put back what stood there, of cluster_id %q and node_id %q; or move the data directory away",
			path, err, cluster, node)
	}
	switch {
	case found.KernelVersion > config.Version:
		return fmt.Errorf("%w: %s needs kernel version %d, this binary knows versions 1 to %d", ErrNewer, path, found.KernelVersion, config.Version)
	case found.Format > dirFormat:
		return fmt.Errorf("%w: %s has format %d, this binary knows up to %d", ErrNewer, path, found.Format, dirFormat)
	case found.Cluster != cluster || found.Node != node:
		return fmt.Errorf("%w: %s says cluster %q, node %q; this is cluster %q, node %q",
			ErrForeign, path, found.Cluster, found.Node, cluster, node)
	}
	return nil
}

// Need notes what kernel version the data is going to need of a binary, before
// anything of it is written: an older one is refused by Claim from then on, and by the
// directory's format before that (EV-9). Version 1 needs no note.
func Need(dir string, version uint32) error {
	if version < 2 {
		return nil
	}
	return changeOwner(dir, func(o *owner) { o.KernelVersion = max(o.KernelVersion, version) })
}

// readOwner reads node.json. One of a newer format may hold what this version
// does not know.
func readOwner(content []byte) (found owner, err error) {
	err = json.Unmarshal(content, &found)
	if err == nil && found.Format <= dirFormat {
		strict := json.NewDecoder(bytes.NewReader(content))
		strict.DisallowUnknownFields()
		err = strict.Decode(&found)
		switch {
		case err != nil:
		case found.Format != found.format():
			err = fmt.Errorf("format %d does not fit what it holds", found.Format)
		case found.Lineage != "" && found.Sum != found.sum():
			err = errors.New("its checksum does not fit")
		}
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		err = fmt.Errorf("at byte %d: %w", syntax.Offset, err)
	case errors.As(err, &kind):
		err = fmt.Errorf("at byte %d: %w", kind.Offset, err)
	}
	return found, err
}

// writeOwner writes it.
func writeOwner(path string, o owner) error {
	content, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return WriteFile(path, append(content, '\n'))
}

// WriteFile gives a file this content, across a power cut as well.
func WriteFile(path string, content []byte) error {
	f, err := os.OpenFile(path+".tmp", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("cluster: data directory: %w", err)
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(path+".tmp", path)
	}
	if err != nil {
		return fmt.Errorf("cluster: data directory: %w", err)
	}
	return syncDir(filepath.Dir(path))
}

// Owner tells whose a directory is; ok is false when it is nobody's yet.
func Owner(dir string) (cluster, node string, ok bool, err error) {
	content, err := os.ReadFile(filepath.Join(dir, nodeFile))
	if errors.Is(err, os.ErrNotExist) {
		return "", "", false, nil
	}
	var found owner
	if err == nil {
		err = json.Unmarshal(content, &found)
	}
	if err != nil {
		return "", "", false, fmt.Errorf("cluster: data directory: %w", err)
	}
	return found.Cluster, found.Node, true, nil
}

// IsOver tells whether an error ends a node that is no member any more: in order, and
// for good.
func IsOver(err error) bool { return errors.Is(err, ErrRemoved) || errors.Is(err, ErrOutlived) }

// Outlive marks the directory of a node without which the cluster was recovered.
func Outlive(dir string) error {
	return WriteFile(filepath.Join(dir, outlivedFile), []byte(ErrOutlived.Error()+"\n"))
}

// Retire marks the directory of a node that was removed from its cluster.
func Retire(dir string, why error) error {
	return WriteFile(filepath.Join(dir, removedFile), []byte(why.Error()+"\n"))
}

// Condemn marks the directory so that this replica never serves again.
func Condemn(dir string, why error) error {
	return WriteFile(filepath.Join(dir, divergedFile), []byte(why.Error()+"\n"))
}
