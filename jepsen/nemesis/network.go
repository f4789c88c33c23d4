package nemesis

import (
	"context"
	"fmt"
	"slices"
)

var networkKinds = map[string]kind{
	"partition": {about: "some nodes do not hear some others: isolate, halves, ring, bridge, deaf, mute", wants: "shape", inject: partition, heal: healNetwork},
	"loss":      {about: "packets from and to a node are lost", wants: "percent", inject: spoil, heal: healNetwork},
	"duplicate": {about: "packets from and to a node come twice", wants: "percent", inject: spoil, heal: healNetwork},
	"reorder":   {about: "packets from and to a node overtake each other", wants: "percent", inject: spoil, heal: healNetwork},
	"delay":     {about: "packets from and to a node take longer, give or take a half", wants: "by", inject: spoil, heal: healNetwork},
	"slow":      {about: "links from and to a node carry so many bytes a second", wants: "bytes", inject: spoil, heal: healNetwork},
}

// shapes of partitions: which node does not reach which. The first of the order is
// the fault's own node; the rest is drawn.
var shapes = map[string]func(order []string) map[[2]string]bool{
	// Nobody hears the node, and it hears nobody.
	"isolate": func(order []string) map[[2]string]bool { return split(order[:1], order[1:]) },
	// It hears nobody, and is heard.
	"deaf": func(order []string) map[[2]string]bool { return oneWay(order[1:], order[:1]) },
	// Nobody hears it, and it hears all.
	"mute": func(order []string) map[[2]string]bool { return oneWay(order[:1], order[1:]) },
	// A majority and a minority.
	"halves": func(order []string) map[[2]string]bool {
		return split(order[:len(order)/2], order[len(order)/2:])
	},
	// Everyone sees a majority, and no two the same one.
	"ring": func(order []string) map[[2]string]bool {
		cuts := make(map[[2]string]bool)
		for i, a := range order {
			for j, b := range order {
				apart := min((i-j+len(order))%len(order), (j-i+len(order))%len(order))
				if apart > (len(order)/2+1)/2 {
					cuts[[2]string{a, b}] = true
				}
			}
		}
		return cuts
	},
	// Two halves that see only one node of the other kind, the same one.
	"bridge": func(order []string) map[[2]string]bool {
		rest := order[1:]
		return split(rest[:len(rest)/2], rest[len(rest)/2:])
	},
}

func oneWay(from, to []string) map[[2]string]bool {
	cuts := make(map[[2]string]bool)
	for _, a := range from {
		for _, b := range to {
			cuts[[2]string{a, b}] = true
		}
	}
	return cuts
}

func split(a, b []string) map[[2]string]bool {
	cuts := oneWay(a, b)
	for cut := range oneWay(b, a) {
		cuts[cut] = true
	}
	return cuts
}

func partition(_ context.Context, n *Nemesis, in *Injected) error {
	order := ids(n.Nodes)
	n.dice.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
	if len(in.Nodes) == 1 {
		at := slices.Index(order, in.Nodes[0].ID)
		order[0], order[at] = order[at], order[0]
	}
	if in.cuts = shapes[in.Shape](order); len(in.cuts) == 0 {
		return fmt.Errorf("%s cuts nothing between %d nodes", in.Shape, len(order))
	}
	in.detail["shape"], in.detail["order"] = in.Shape, order
	n.arrange()
	return nil
}

func spoil(_ context.Context, n *Nemesis, in *Injected) error {
	for word, value := range map[string]any{"percent": in.Percent, "by": in.By.String(), "bytes_per_second": in.Bytes} {
		if value != 0 && value != "0s" && value != int64(0) {
			in.detail[word] = value
		}
	}
	n.arrange()
	return nil
}

func healNetwork(_ context.Context, n *Nemesis, _ *Injected) error {
	n.arrange()
	return nil
}

// arrange sets every link to what all active faults make of it together.
func (n *Nemesis) arrange() {
	n.mu.Lock()
	active := slices.Clone(n.active)
	n.mu.Unlock()
	n.Network.Set(func(from, to string) Link {
		var l Link
		for _, in := range active {
			if in.kind.claim != network {
				continue
			}
			l.Cut = l.Cut || in.cuts[[2]string{from, to}]
			if on := ids(in.Nodes); slices.Contains(on, from) || slices.Contains(on, to) {
				l = l.worse(in)
			}
		}
		return l
	})
}

func (l Link) worse(in *Injected) Link {
	switch in.Kind {
	case "loss":
		l.Loss = max(l.Loss, in.Percent)
	case "duplicate":
		l.Duplicate = max(l.Duplicate, in.Percent)
	case "reorder":
		l.Reorder = max(l.Reorder, in.Percent)
	case "delay":
		l.Delay = max(l.Delay, in.By)
	case "slow":
		if l.BytesPerSecond == 0 || in.Bytes < l.BytesPerSecond {
			l.BytesPerSecond = in.Bytes
		}
	}
	return l
}
