package nemesis

import (
	"context"
	"errors"
	"fmt"
)

var processKinds = map[string]kind{
	"kill":  {about: "SIGKILL; started again at the heal", claim: process, inject: kill, heal: start},
	"stop":  {about: "SIGTERM, waiting until it has stopped in good order; started again at the heal", claim: process, inject: stop, heal: start},
	"pause": {about: "SIGSTOP; SIGCONT at the heal", claim: process, inject: pause, heal: resume},
	"transfer": {
		about: "leadership is handed over to the node", inject: transfer,
		heal: func(context.Context, *Nemesis, *Injected) error { return nil },
	},
}

func each(in *Injected, do func(*Node) error) error {
	var failed []error
	for _, node := range in.Nodes {
		if err := do(node); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", node.ID, err))
		}
	}
	return errors.Join(failed...)
}

func kill(_ context.Context, _ *Nemesis, in *Injected) error {
	return each(in, func(node *Node) error { return node.Process.Kill() })
}

func stop(ctx context.Context, _ *Nemesis, in *Injected) error {
	return each(in, func(node *Node) error { return node.Process.Stop(ctx) })
}

func start(ctx context.Context, _ *Nemesis, in *Injected) error {
	return each(in, func(node *Node) error { return node.Process.Start(ctx) })
}

func pause(_ context.Context, _ *Nemesis, in *Injected) error {
	return each(in, func(node *Node) error { return node.Process.Pause() })
}

func resume(_ context.Context, _ *Nemesis, in *Injected) error {
	return each(in, func(node *Node) error { return node.Process.Resume() })
}

// transfer asks for it. That it is refused or not answered while other faults are
// at work is no failure of the run's: it is written down.
func transfer(ctx context.Context, n *Nemesis, in *Injected) error {
	if err := n.Transfer(ctx, in.Nodes[0].ID); err != nil {
		in.detail["answer"] = err.Error()
	}
	return nil
}
