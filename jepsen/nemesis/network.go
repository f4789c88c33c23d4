package nemesis

import (
	"context"
	"fmt"
	"slices"

	"github.com/omnikernel/omnikernel/jepsen/lab/wire"
)

var networkKinds = map[string]kind{
	"partition": {about: "some nodes do not hear some others: isolate, halves, ring, bridge, deaf, mute", wants: "shape", inject: partition, heal: lift},
	"loss":      {about: "packets from and to a node are lost", wants: "percent", inject: spoil, heal: lift},
	"duplicate": {about: "packets from and to a node come twice", wants: "percent", inject: spoil, heal: lift},
	"reorder":   {about: "packets from and to a node overtake each other", wants: "percent", inject: spoil, heal: lift},
	"delay":     {about: "packets from and to a node take longer, and up to as much again", wants: "by", inject: spoil, heal: lift},
	"slow":      {about: "links from and to a node carry so many bytes a second", wants: "bytes", inject: spoil, heal: lift},
}

// shapes of partitions: the links that they cut. The first host is the fault's own
// node; the rest is shuffled.
var shapes = map[string]func(hosts []string) wire.Links{
	"isolate": func(hosts []string) wire.Links { return wire.Isolate(hosts, hosts[0]) },
	"deaf":    func(hosts []string) wire.Links { return wire.Deaf(hosts, hosts[0]) },
	"mute":    func(hosts []string) wire.Links { return wire.Mute(hosts, hosts[0]) },
	"halves":  wire.Halves,
	"ring":    wire.Ring,
	"bridge":  wire.Bridge,
}

func partition(_ context.Context, n *Nemesis, in *Injected) error {
	order := ids(n.Nodes)
	n.dice.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
	if len(in.Nodes) == 1 {
		at := slices.Index(order, in.Nodes[0].ID)
		order[0], order[at] = order[at], order[0]
	}
	links := shapes[in.Shape](order)
	if len(links) == 0 {
		return fmt.Errorf("%s cuts nothing between %d nodes", in.Shape, len(order))
	}
	in.detail["shape"], in.detail["cut"] = in.Shape, links
	return n.impose(in, links.Cut())
}

// spoil gives every link from and to the nodes a policy.
func spoil(_ context.Context, n *Nemesis, in *Injected) error {
	share := float64(in.Percent) / 100
	var p wire.Policy
	switch in.Kind {
	case "loss":
		p.Loss = share
	case "duplicate":
		p.Duplicate = share
	case "reorder":
		p.Reorder = share
	case "delay":
		p.Delay, p.Jitter = in.By, in.By
	case "slow":
		p.BytesPerSecond = in.Bytes
	}
	in.detail["policy"] = p
	on := ids(in.Nodes)
	links := slices.DeleteFunc(wire.All(ids(n.Nodes)), func(l wire.Link) bool {
		return !slices.Contains(on, l.From) && !slices.Contains(on, l.To)
	})
	return n.impose(in, links.With(p))
}

func (n *Nemesis) impose(in *Injected, rules wire.Rules) error {
	imposed, err := n.Network.Impose(rules)
	in.imposed = imposed
	return err
}

func lift(_ context.Context, _ *Nemesis, in *Injected) error {
	if in.imposed != nil {
		in.imposed.Lift()
	}
	return nil
}
