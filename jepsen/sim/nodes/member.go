package nodes

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/echo"
	"github.com/omnikernel/omnikernel/fsm/snapshot"
	"github.com/omnikernel/omnikernel/kernel/config"
	evaluators "github.com/omnikernel/omnikernel/kernel/evaluator/registry"
)

// member is one node: what survives its crash, and what runs while it is up.
type member struct {
	self  cluster.Peer
	dir   string
	disk  *disk
	wall  atomic.Int64 // how far its clock is off, nanoseconds
	alive atomic.Pointer[life]
}

// life is a process.
type life struct {
	node  *cluster.Node
	port  *port
	ended atomic.Bool // by a crash: what it complains about then is no finding

	installed bool // it was seen with a snapshot of another
}

// limits make snapshots frequent, and leave few entries behind one, so that
// whoever was away needs it.
var limits = consensus.Limits{TrailingLogs: 40, SnapshotBytes: 4 << 10}

// start opens a node with what it has on its disk.
func (r *run) start(m *member) {
	l := &life{port: r.network.join(m.self.Raft)}
	registry, err := tools.New(tools.Options{}, echo.Adapter{}, r.world)
	r.must(err)
	settings := cluster.Config{
		NodeID: m.self.ID, ClusterID: "test", KernelID: "default", DataDir: m.dir, Peers: r.peers, Disk: m.disk.open,
		Stream: l.port, Calls: l.port, History: l.port, Tools: registry, Evaluators: evaluators.Lookup, Limits: config.Default(),
		Raft: limits,
		Wall: func() time.Time { return time.Now().Add(time.Duration(m.wall.Load())) },
		Fatal: func(err error) {
			if !l.ended.Load() {
				r.fail(fmt.Errorf("%s stops: %w", m.self.ID, err))
			}
		},
		Logger: hclog.NewNullLogger(),
	}
	if r.fast {
		settings.Crash = l.port
	}
	l.node, err = cluster.Open(settings)
	if err != nil {
		r.fail(fmt.Errorf("%s does not start: %w", m.self.ID, err))
		return
	}
	l.port.serve(l.node)
	m.alive.Store(l)
}

// node is nil while it is down.
func (m *member) node() *cluster.Node {
	if l := m.alive.Load(); l != nil {
		return l.node
	}
	return nil
}

// crash ends a node's process, with a power cut: from one moment on nothing leaves
// it, and what its disks have not fsynced by then they may not have afterwards.
func (r *run) crash(m *member) {
	l := m.alive.Swap(nil)
	if l == nil {
		return
	}
	l.ended.Store(true)
	_ = l.port.Close()
	m.disk.crash()
	left, err := os.MkdirTemp(r.dir, "left")
	r.must(err)
	// Snapshots first: one that is whole has its log fsynced (LO-2).
	kept := []string{filepath.Join("raft", "snapshots"), "log"}
	kernel := datadir.KernelDir(m.dir, "default")
	for _, name := range kept {
		r.must(copyTree(filepath.Join(left, name), filepath.Join(kernel, name)))
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	_ = l.node.Stop(over) // it cannot hand anything over, and cannot write any more
	for _, name := range kept {
		r.must(os.RemoveAll(filepath.Join(kernel, name)))
		r.must(copyTree(filepath.Join(kernel, name), filepath.Join(left, name)))
	}
	r.must(r.tear(kernel))
	r.must(os.RemoveAll(left))
}

func copyTree(to, from string) error {
	if _, err := os.Stat(from); errors.Is(err, os.ErrNotExist) {
		return os.MkdirAll(to, 0o700)
	}
	return os.CopyFS(to, os.DirFS(from))
}

// segmentHeader is the length of what stands before a log file's blocks, and
// segmentStart where in it their position does (fsm/segment).
const segmentHeader, segmentStart = 96, 48

// tear cuts the newest file of the execution log anywhere behind what the newest
// snapshot stands on.
func (r *run) tear(kernel string) error {
	durable, err := newestSnapshot(filepath.Join(kernel, "raft", "snapshots"))
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(kernel, "log", "*.seg"))
	if err != nil || len(files) == 0 {
		return err
	}
	newest := slices.Max(files)
	content, err := os.ReadFile(newest)
	if err != nil || len(content) < segmentHeader {
		return err
	}
	keep := segmentHeader
	if start := binary.LittleEndian.Uint64(content[segmentStart:]); durable > start {
		keep += int(durable - start)
	}
	if keep >= len(content) {
		return nil
	}
	return os.Truncate(newest, int64(keep+r.dice.intN(len(content)-keep+1)))
}

// newestSnapshot is the position in the log up to which the newest whole snapshot
// stands; 0 when there is none.
func newestSnapshot(dir string) (position uint64, err error) {
	states, err := filepath.Glob(filepath.Join(dir, "*", "state.bin"))
	if err != nil {
		return 0, err
	}
	for _, name := range states {
		if filepath.Ext(filepath.Dir(name)) == ".tmp" {
			continue
		}
		at, err := positionIn(name)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		position = max(position, at)
	}
	return position, nil
}

func positionIn(name string) (uint64, error) {
	file, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	reader, err := snapshot.NewReader(bufio.NewReader(file))
	for err == nil {
		section, next := reader.Next()
		if next != nil {
			err = next
			break
		}
		if tables, ok := section.Log(); ok {
			return tables.Position, nil
		}
	}
	if errors.Is(err, io.EOF) {
		return 0, nil
	}
	return 0, err
}
