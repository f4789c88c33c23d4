package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/jepsen/check"
)

// verdict is an error that is none: all went well but what was looked at.
type verdict struct{ word check.Word }

func (v verdict) Error() string { return "the verdict is: " + string(v.word) }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := newRoot().ExecuteContext(ctx)
	stop()
	var v verdict
	switch {
	case err == nil:
	case errors.As(err, &v):
		fmt.Fprintln(os.Stderr, err)
		if v.word == check.Unclear {
			os.Exit(3)
		}
		os.Exit(1)
	default:
		fmt.Fprintln(os.Stderr, "jepsen:", err)
		os.Exit(2)
	}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use: "jepsen", Short: "Hurt real clusters, and judge what they did",
		SilenceUsage: true, SilenceErrors: true,
	}
	root.AddCommand(newRun(), newPlanted(), newList(), newCheck(), newSweep())
	return root
}
