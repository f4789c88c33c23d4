package disk

import (
	"context"
	"path/filepath"
	"syscall"

	fusefs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// directory is an open directory.
type directory struct {
	node   *node
	stream fusefs.FileHandle
}

// OpendirHandle opens a directory.
func (n *node) OpendirHandle(ctx context.Context, flags uint32) (fusefs.FileHandle, uint32, syscall.Errno) {
	stream, fuseFlags, errno := n.LoopbackNode.OpendirHandle(ctx, flags)
	if errno != 0 {
		return nil, 0, errno
	}
	return &directory{node: n, stream: stream}, fuseFlags, 0
}

// Readdirent is the next name.
func (d *directory) Readdirent(ctx context.Context) (*fuse.DirEntry, syscall.Errno) {
	return d.stream.(fusefs.FileReaddirenter).Readdirent(ctx)
}

// Seekdir goes to a name that was read before.
func (d *directory) Seekdir(ctx context.Context, offset uint64) syscall.Errno {
	return d.stream.(fusefs.FileSeekdirer).Seekdir(ctx, offset)
}

// Releasedir closes.
func (d *directory) Releasedir(ctx context.Context, flags uint32) {
	d.stream.(fusefs.FileReleasedirer).Releasedir(ctx, flags)
}

// Fsyncdir makes the names in the directory durable.
func (d *directory) Fsyncdir(ctx context.Context, _ uint32) syscall.Errno {
	disk, relative := d.node.disk, d.node.relative()
	if _, errno := disk.faults.before(ctx, Fsync, filepath.Base(relative), false); errno != 0 {
		return errno
	}
	disk.mu.Lock()
	defer disk.mu.Unlock()
	if relative == "" {
		relative = "."
	}
	disk.names.syncedDir(relative)
	return 0
}
