package main

import (
	"context"
	"io"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
)

// openLog gives a whole log: of a file that holds one, or as the cluster exports
// it.
func (a *app) openLog(ctx context.Context, file, node string, stdin io.Reader) (io.ReadCloser, error) {
	return (&replaying{app: a, all: true, node: node}).open(ctx, "", file, stdin)
}

// logFile is the file that a call names, if it names one.
func logFile(args []string, node string) (string, error) {
	if len(args) == 0 {
		return "", nil
	}
	if node != "" {
		return "", tell.Usage("leave --node out", "a file is read without any node")
	}
	return args[0], nil
}
