package experiment

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/lab"
	"github.com/omnikernel/omnikernel/jepsen/lab/disk"
	"github.com/omnikernel/omnikernel/jepsen/scenarios"
	"github.com/omnikernel/omnikernel/jepsen/traffic"
	"github.com/omnikernel/omnikernel/jepsen/traffic/proxy"
	"github.com/omnikernel/omnikernel/transport/client"
)

// rig is what stands on the machine for one run.
type rig struct {
	dir       string
	lab       *lab.Lab
	ids       []string
	disks     map[string]disks // by node; empty on plain directories
	proxies   map[string]*proxy.Proxy
	addresses []traffic.Node
	direct    *client.Client // to the nodes themselves
	client    *client.Client // through the proxies, where there are some
	service   *traffic.Service
}

// disks is a node's disk, of one kind or the other.
type disks struct {
	image  *disk.Image
	faulty *disk.Faulty
}

const (
	imageMiB = 1024 // of a disk whose power is cut, sparse: raft-wal takes 64 MiB for every segment
	smallMiB = 48   // of one that gets full
	started  = 30 * time.Second
)

// build makes the lab and starts it. What stands is in the rig even when it fails.
func build(ctx context.Context, r *run, dir string) (*rig, error) {
	g := &rig{dir: dir, disks: make(map[string]disks), proxies: make(map[string]*proxy.Proxy), ids: nodeIDs(r.Scenario.Nodes)}
	if err := g.build(ctx, r); err != nil {
		return nil, errors.Join(err, g.close())
	}
	return g, nil
}

func (g *rig) build(ctx context.Context, r *run) error {
	clocks := filepath.Join(g.dir, "clocks")
	if err := os.Mkdir(clocks, 0o700); err != nil {
		return err
	}
	if err := os.Setenv("OMNI_FAULT_CLOCK", clocks); err != nil {
		return err
	}
	plan := lab.Plan{
		Dir: g.dir, Omni: r.Omni, Nodes: r.Scenario.Nodes, Store: r.Scenario.Store, Flags: r.Scenario.Flags, Seed: r.Seed,
		Life: r.record.Life,
	}
	var err error
	if plan.Data, err = g.mount(r.Scenario); err != nil {
		return err
	}
	if g.lab, err = lab.Open(ctx, plan); err != nil {
		return err
	}
	g.lab.Defer(g.unmount)
	if err := g.answer(r); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, started)
	defer cancel()
	if err := g.lab.Start(limited); err != nil {
		return err
	}
	if g.direct, err = g.lab.Client(client.Options{}); err != nil {
		return err
	}
	g.client, err = traffic.NewClient(g.addresses)
	return err
}

// mount makes the nodes' disks and gives the data directories on them; none where
// plain directories do.
func (g *rig) mount(s *scenarios.Scenario) (data []string, err error) {
	mebibytes := int64(imageMiB)
	if slices.ContainsFunc(wanted(s), func(f *scenarios.Fault) bool { return f.Kind == "full" }) {
		mebibytes = smallMiB
	}
	for _, node := range g.ids {
		var d disks
		switch s.Disks {
		case scenarios.Plain:
			return nil, nil
		case scenarios.Image:
			d.image, err = disk.New(filepath.Join(g.dir, "disks", node), mebibytes)
		case scenarios.Faulty:
			d.faulty, err = disk.NewFaulty(filepath.Join(g.dir, "disks", node))
		}
		if err != nil {
			return nil, fmt.Errorf("the disk of %s: %w", node, err)
		}
		g.disks[node] = d
		data = append(data, filepath.Join(d.dir(), "data"))
	}
	return data, nil
}

func (d disks) dir() string {
	if d.image != nil {
		return d.image.Dir()
	}
	return d.faulty.Dir()
}

// unmount takes the disks away when nobody uses them any more.
func (g *rig) unmount() error {
	var failed []error
	for _, d := range g.disks {
		switch {
		case d.image != nil:
			failed = append(failed, d.image.Close())
		case d.faulty != nil:
			failed = append(failed, d.faulty.Close())
		}
	}
	clear(g.disks)
	return errors.Join(failed...)
}

// answer makes the counting service, and a proxy before each node when the
// scenario loses answers.
func (g *rig) answer(r *run) error {
	l, err := net.Listen("tcp", net.JoinHostPort(g.lab.Address().String(), "0"))
	if err != nil {
		return err
	}
	g.service = traffic.NewService(l, r.record, r.Seed)
	lossy := slices.ContainsFunc(wanted(r.Scenario), func(f *scenarios.Fault) bool { return f.Kind == "drop-answers" || f.Kind == "late-answers" })
	for i, node := range g.lab.Nodes() {
		url := node.API()
		if lossy {
			l, err := net.Listen("tcp", net.JoinHostPort(g.lab.Address().String(), "0"))
			if err != nil {
				return err
			}
			p, err := proxy.New(l, node.API(), r.Seed+uint64(i))
			if err != nil {
				return err
			}
			url, g.proxies[node.ID()] = p.URL(), p
			node.Advertise(url)
		}
		g.addresses = append(g.addresses, traffic.Node{ID: node.ID(), URL: url})
	}
	return nil
}

// close removes everything.
func (g *rig) close() error {
	for _, c := range []*client.Client{g.client, g.direct} {
		if c != nil {
			c.Close()
		}
	}
	for _, p := range g.proxies {
		p.Close()
	}
	var failed []error
	if g.lab != nil {
		failed = append(failed, g.lab.Close())
	}
	failed = append(failed, g.unmount()) // when there was no lab yet
	if g.service != nil {
		g.service.Close()
	}
	return errors.Join(failed...)
}

// outputs copies what the nodes wrote to the report.
func (g *rig) outputs(to func(node string) (string, error)) error {
	for _, node := range g.lab.Nodes() {
		dir, err := to(node.ID())
		if err != nil {
			return err
		}
		content, err := os.ReadFile(node.Log())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "output.log"), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
