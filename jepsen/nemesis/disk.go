package nemesis

import (
	"context"
	"errors"
)

func hasDisk(node *Node) bool { return node.Disk != nil }

var diskKinds = map[string]kind{
	"powercut": {about: "SIGKILL, and what was not fsynced is lost; started again at the heal", claim: process, needs: hasDisk, inject: powercut, heal: start},
	"full":     {about: "no room on the disk", claim: process, needs: hasDisk, ends: true, inject: fill, heal: free},
	"fsync-error": {
		about: "every fsync fails; at the heal the node loses its power", claim: process, needs: hasDisk, ends: true,
		inject: func(_ context.Context, _ *Nemesis, in *Injected) error {
			return each(in, func(node *Node) error { return node.Disk.FailSync(true) })
		},
		heal: mendDisk,
	},
	"write-error": {
		about: "every write fails; at the heal the node loses its power", claim: process, needs: hasDisk, ends: true,
		inject: func(_ context.Context, _ *Nemesis, in *Injected) error {
			return each(in, func(node *Node) error { return node.Disk.FailWrite(true) })
		},
		heal: mendDisk,
	},
	"fsync-slow": {
		about: "an fsync takes longer", claim: process, needs: hasDisk, wants: "by",
		inject: func(_ context.Context, _ *Nemesis, in *Injected) error {
			in.detail["by"] = in.By.String()
			return each(in, func(node *Node) error { return node.Disk.SlowSync(in.By) })
		},
		heal: func(_ context.Context, _ *Nemesis, in *Injected) error {
			return each(in, func(node *Node) error { return node.Disk.SlowSync(0) })
		},
	},
}

// powercut kills first: an fsync under way while the power goes might report
// success for what is lost, and blame the node for it.
func powercut(_ context.Context, n *Nemesis, in *Injected) error {
	return each(in, func(node *Node) error {
		if err := node.Process.Kill(); err != nil {
			return err
		}
		return node.Disk.Cut(n.dice.Uint64())
	})
}

func fill(_ context.Context, _ *Nemesis, in *Injected) error {
	return each(in, func(node *Node) error { return node.Disk.Fill() })
}

func free(ctx context.Context, _ *Nemesis, in *Injected) error {
	return each(in, func(node *Node) error {
		if err := node.Disk.Free(); err != nil || node.Process.Running() {
			return err
		}
		return node.Process.Start(ctx)
	})
}

// mendDisk takes the power away too, so that whatever a node took for written,
// and was not, is seen to be missing.
func mendDisk(ctx context.Context, n *Nemesis, in *Injected) error {
	return each(in, func(node *Node) error {
		return errors.Join(
			node.Disk.FailSync(false), node.Disk.FailWrite(false),
			node.Process.Kill(), node.Disk.Cut(n.dice.Uint64()), node.Process.Start(ctx),
		)
	})
}
