//go:build !linux

package main

import (
	"context"
	"os"
)

// listen knows no keys here: Ctrl-C ends omni top.
func listen() (keys *os.File, restore func(), ok bool) { return nil, nil, false }

func untilQuit(context.Context, *os.File, func()) {}
