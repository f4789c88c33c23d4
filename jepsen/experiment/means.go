package experiment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/lab"
	"github.com/omnikernel/omnikernel/jepsen/lab/disk"
	"github.com/omnikernel/omnikernel/jepsen/nemesis"
	"github.com/omnikernel/omnikernel/jepsen/traffic/proxy"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// means are what a nemesis has of a rig.
func (g *rig) means(r *run) nemesis.Means {
	m := nemesis.Means{
		Network: g.lab.Wire(), Record: r.record, Seed: r.Seed, Leader: r.watch.leader,
		Serves: func(ctx context.Context, node string) error { return serves(ctx, g.direct, node) },
		Transfer: func(ctx context.Context, to string) error {
			_, err := g.direct.Transfer(ctx, to, client.Timeout(lookWithin*4))
			return err
		},
	}
	for _, node := range g.lab.Nodes() {
		n := &nemesis.Node{ID: node.ID(), Process: process{node}, Files: g.files(node), Clock: g.clock(node.ID()), ReadLog: readLog(node)}
		switch d := g.disks[node.ID()]; {
		case d.image != nil:
			n.Disk = image{d.image}
		case d.faulty != nil:
			n.Disk = &faulty{Faulty: d.faulty}
		}
		if p := g.proxies[node.ID()]; p != nil {
			n.Answers = &answers{proxy: p}
		}
		m.Nodes = append(m.Nodes, n)
	}
	return m
}

// serves waits until a node answers a linearizable read: it hears the leader, and
// has applied all that was acknowledged.
func serves(ctx context.Context, c *client.Client, node string) error {
	for {
		_, err := c.SharedKeys(ctx, "probe", api.MemoryQuery{Limit: 1}, client.Node(node), client.Consistency(api.Linearizable), client.Timeout(lookWithin))
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s does not serve: %w", node, err)
		case <-time.After(lookEvery / 2):
		}
	}
}

// process is a node's process, as a nemesis sees it. To hurt one that has ended by
// itself does nothing: that it ended is what the run will be judged for.
type process struct{ node *lab.Node }

func (p process) Start(context.Context) error {
	if err := p.node.Start(); !errors.Is(err, lab.ErrUp) {
		return err
	}
	return nil
}
func (p process) Stop(ctx context.Context) error { return ignore(p.node.Stop(ctx), lab.ErrDown) }
func (p process) Kill() error                    { return ignore(p.node.Kill(), lab.ErrDown) }
func (p process) Pause() error                   { return ignore(p.node.Pause(), lab.ErrDown) }
func (p process) Resume() error                  { return ignore(p.node.Resume(), lab.ErrDown) }
func (p process) Running() bool                  { return p.node.State() != lab.Down }

func ignore(err, known error) error {
	if errors.Is(err, known) {
		return nil
	}
	return err
}

// files are a node's data, and what they were before the faults.
func (g *rig) files(node *lab.Node) disk.Files {
	return disk.Files{Dir: node.Data(), Old: filepath.Join(g.dir, "old", node.ID())}
}

// keep copies all nodes' files, for damage that puts old ones back.
func (g *rig) keep() error {
	for _, node := range g.lab.Nodes() {
		if err := g.files(node).Keep(); err != nil {
			return err
		}
	}
	return nil
}

// clock writes what the node's clock reads (cmd/omni, build tag faultclock).
func (g *rig) clock(node string) func(time.Duration) error {
	name := filepath.Join(g.dir, "clocks", node)
	return func(by time.Duration) error {
		if err := os.WriteFile(name+".new", []byte(by.String()), 0o600); err != nil {
			return err
		}
		return os.Rename(name+".new", name)
	}
}

func readLog(node *lab.Node) func(bool) error {
	return func(on bool) error {
		if on {
			return node.UnblockStderr()
		}
		return node.BlockStderr()
	}
}

// answers are those that come through a proxy.
type answers struct {
	proxy  *proxy.Proxy
	faults proxy.Faults
}

func (a *answers) Drop(percent int) {
	a.faults.Drop, a.faults.Hang = float64(percent)/200, float64(percent)/200
	a.proxy.Set(a.faults)
}

func (a *answers) Delay(percent int, by time.Duration) {
	a.faults.Delay, a.faults.Late = float64(percent)/100, by
	a.proxy.Set(a.faults)
}

// image is a disk whose power can be cut.
type image struct{ *disk.Image }

// keepKiB is what a full disk has left: too little for anything.
const keepKiB = 0

var errNotThisDisk = errors.New("this disk cannot do that: say which with disks: image or faulty")

func (i image) Cut(uint64) error             { return i.Image.Cut() }
func (i image) Fill() error                  { return i.Image.Fill(keepKiB) }
func (i image) FailSync(bool) error          { return errNotThisDisk }
func (i image) FailWrite(bool) error         { return errNotThisDisk }
func (i image) SlowSync(time.Duration) error { return errNotThisDisk }

// faulty is a disk that fails.
type faulty struct{ *disk.Faulty }

func (f *faulty) fault(on bool, what disk.Fault) error {
	if !on {
		f.Heal()
		return nil
	}
	_, err := f.Inject(what)
	return err
}

func (f *faulty) Cut(seed uint64) error {
	_, err := f.LoseUnsynced(seed)
	return err
}
func (f *faulty) Fill() error {
	return f.fault(true, disk.Fault{Op: disk.Write, Errno: syscall.ENOSPC})
}
func (f *faulty) Free() error { return f.fault(false, disk.Fault{}) }
func (f *faulty) FailSync(on bool) error {
	return f.fault(on, disk.Fault{Op: disk.Fsync, Errno: syscall.EIO})
}
func (f *faulty) FailWrite(on bool) error {
	return f.fault(on, disk.Fault{Op: disk.Write, Errno: syscall.EIO, Part: true})
}
func (f *faulty) SlowSync(by time.Duration) error {
	return f.fault(by > 0, disk.Fault{Op: disk.Fsync, Delay: by})
}
