package nemesis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/lab/disk"
)

var otherKinds = map[string]kind{
	"clock": {
		about: "the wall clock is wrong by so much", claim: clock, wants: "by",
		needs: func(node *Node) bool { return node.Clock != nil },
		inject: func(_ context.Context, _ *Nemesis, in *Injected) error {
			in.detail["by"] = in.By.String()
			return each(in, func(node *Node) error { return node.Clock(in.By) })
		},
		heal: func(_ context.Context, _ *Nemesis, in *Injected) error {
			return each(in, func(node *Node) error { return node.Clock(0) })
		},
	},
	"drop-answers": {
		about: "so many answers are swallowed, after the node did what it was asked for", claim: answers, wants: "percent", needs: hasAnswers,
		inject: func(_ context.Context, _ *Nemesis, in *Injected) error {
			in.detail["percent"] = in.Percent
			return each(in, func(node *Node) error { node.Answers.Drop(in.Percent); return nil })
		},
		heal: answerAgain,
	},
	"late-answers": {
		about: "so many answers come later by so much", claim: answers, wants: "percent by", needs: hasAnswers,
		inject: func(_ context.Context, _ *Nemesis, in *Injected) error {
			in.detail["percent"], in.detail["by"] = in.Percent, in.By.String()
			return each(in, func(node *Node) error { node.Answers.Delay(in.Percent, in.By); return nil })
		},
		heal: answerAgain,
	},
	"block-log": {
		about: "nobody reads what the node has to say", claim: output,
		needs: func(node *Node) bool { return node.ReadLog != nil },
		inject: func(_ context.Context, _ *Nemesis, in *Injected) error {
			return each(in, func(node *Node) error { return node.ReadLog(false) })
		},
		heal: func(_ context.Context, _ *Nemesis, in *Injected) error {
			return each(in, func(node *Node) error { return node.ReadLog(true) })
		},
	},
	"corrupt": {about: "SIGKILL, and a file is spoilt; at the heal it is mended, or the node refuses and gets a new disk", claim: process, wants: "file way", needs: hasFiles, ends: true, inject: corrupt, heal: mend},
	"helix":   {about: "the same on several nodes, never the same part", claim: process, wants: "file way", needs: hasFiles, ends: true, inject: helix, heal: mend},
}

func hasAnswers(node *Node) bool { return node.Answers != nil }

func hasFiles(node *Node) bool { return node.Files != nil }

func answerAgain(_ context.Context, _ *Nemesis, in *Injected) error {
	return each(in, func(node *Node) error {
		node.Answers.Drop(0)
		node.Answers.Delay(0, 0)
		return nil
	})
}

// aMoment is how long the others may take before a node is damaged: what they do
// not have, nobody has.
const aMoment = 20 * time.Second

func corrupt(ctx context.Context, n *Nemesis, in *Injected) error {
	if err := n.others(ctx, in); err != nil {
		return err
	}
	return each(in, func(node *Node) error {
		if err := node.Process.Kill(); err != nil {
			return err
		}
		did, err := node.Files.Damage(in.File, in.Way, n.dice.Uint64())
		return in.damaged(node, did, err)
	})
}

// damaged notes what was done. A node that has no such file yet was killed only,
// and that is what is noted.
func (in *Injected) damaged(node *Node, did map[string]any, err error) error {
	if errors.Is(err, disk.ErrNothing) {
		in.detail[node.ID] = err.Error()
		return nil
	}
	in.detail[node.ID] = did
	return err
}

func helix(ctx context.Context, n *Nemesis, in *Injected) error {
	for _, node := range n.Nodes {
		if err := n.await(ctx, node); err != nil {
			return err
		}
	}
	seed := n.dice.Uint64()
	if err := each(in, func(node *Node) error { return node.Process.Kill() }); err != nil {
		return err
	}
	for part, node := range in.Nodes {
		did, err := node.Files.Share(in.File, in.Way, part, len(in.Nodes), seed)
		if err := in.damaged(node, did, err); err != nil {
			return fmt.Errorf("%s: %w", node.ID, err)
		}
	}
	return nil
}

// others waits until every other node has what the cluster has.
func (n *Nemesis) others(ctx context.Context, in *Injected) error {
	for _, node := range n.Nodes {
		if node == in.Nodes[0] {
			continue
		}
		if err := n.await(ctx, node); err != nil {
			return err
		}
	}
	return nil
}

func (n *Nemesis) await(ctx context.Context, node *Node) error {
	ctx, cancel := context.WithTimeout(ctx, aMoment)
	defer cancel()
	if err := n.Serves(ctx, node.ID); err != nil {
		return fmt.Errorf("%s must be well before anything is damaged: %w", node.ID, err)
	}
	return nil
}

// mend starts the nodes. One that refuses its data gets an empty disk, which is
// allowed while the others are up and one of them leads (docs/consensus.md).
func mend(ctx context.Context, n *Nemesis, in *Injected) error {
	if err := start(ctx, n, in); err != nil {
		return err
	}
	for _, node := range in.Nodes {
		if err := n.mendOne(ctx, node, in); err != nil {
			return fmt.Errorf("%s: %w", node.ID, err)
		}
	}
	return nil
}

func (n *Nemesis) mendOne(ctx context.Context, node *Node, in *Injected) error {
	ctx, cancel := context.WithTimeout(ctx, 2*aMoment)
	defer cancel()
	serves := make(chan error, 1)
	go func() { serves <- n.Serves(ctx, node.ID) }()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case err := <-serves:
			return err
		case <-look.C:
		}
		if node.Process.Running() {
			continue
		}
		if len(in.Nodes) > 1 {
			return errors.New("it refuses its data, and so may the others: nothing that was acknowledged can be given up")
		}
		in.detail["refused"] = true
		if err := errors.Join(node.Files.Wipe(), node.Process.Start(ctx)); err != nil {
			return err
		}
		return <-serves
	}
}
