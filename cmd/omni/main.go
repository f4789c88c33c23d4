package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	exit := run(ctx, os.Args[1:], tell.New(os.Stdout, os.Stderr))
	stop()
	os.Exit(int(exit))
}
