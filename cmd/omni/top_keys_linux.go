package main

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// listen lets single keys through at once and unseen, without taking Ctrl-C or the end
// of lines from the terminal. restore leaves it as it was. ok is false when stdin is no
// terminal: then there are no keys.
func listen() (keys *os.File, restore func(), ok bool) {
	fd := int(os.Stdin.Fd())
	before, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil, nil, false
	}
	now := *before
	now.Lflag &^= unix.ICANON | unix.ECHO
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 0, 2 // a read waits 0.2 s at most
	if unix.IoctlSetTermios(fd, unix.TCSETS, &now) != nil {
		return nil, nil, false
	}
	return os.Stdin, func() { _ = unix.IoctlSetTermios(fd, unix.TCSETS, before) }, true // there is nothing else to try
}

// untilQuit reads keys until q, or until the context ends.
func untilQuit(ctx context.Context, keys *os.File, quit func()) {
	key := make([]byte, 1)
	for ctx.Err() == nil {
		n, err := unix.Read(int(keys.Fd()), key)
		switch {
		case err != nil && !errors.Is(err, unix.EINTR): // it is gone
			return
		case n == 1 && (key[0] == 'q' || key[0] == 'Q'):
			quit()
			return
		}
	}
}
