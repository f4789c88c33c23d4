package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/omnikernel/omnikernel/cluster/tools/sandbox"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/flows"
)

func main() { runMain(registry.Lookup) }

// runMain is the process, with the evaluators that its servers know.
func runMain(evaluators flows.Lookup) {
	sandbox.Enter() // in a process that starts a program it does not return
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	paceCollector(ctx)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	exit := run(ctx, os.Args[1:], evaluators, tell.New(os.Stdout, os.Stderr))
	stop()
	os.Exit(int(exit))
}
