package disk

import (
	"context"
	"os"
	"path/filepath"
	"syscall"

	fusefs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// fileID tells files apart, also those of one inode number one after another.
type fileID struct{ inode, born uint64 }

// identify is the id of what lies at a path.
func identify(path string) (fileID, error) {
	var s unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO|unix.STATX_BTIME, &s); err != nil {
		return fileID{}, &os.PathError{Op: "statx", Path: path, Err: err}
	}
	return fileID{s.Ino, uint64(s.Btime.Sec)*1e9 + uint64(s.Btime.Nsec)}, nil
}

// node is a file or directory of a faulty disk. What it does not do itself, reading
// names and attributes above all, is passed on as it is.
type node struct {
	fusefs.LoopbackNode
	disk *Faulty
}

func newRoot(d *Faulty) *node {
	data := &fusefs.LoopbackRoot{Path: d.names.real}
	var s syscall.Stat_t
	if syscall.Stat(d.names.real, &s) == nil {
		data.Dev = s.Dev
	}
	root := &node{LoopbackNode: fusefs.LoopbackNode{RootData: data}, disk: d}
	data.RootNode = root
	return root
}

var (
	_ fusefs.NodeWrapChilder    = (*node)(nil)
	_ fusefs.NodeCreater        = (*node)(nil)
	_ fusefs.NodeOpener         = (*node)(nil)
	_ fusefs.NodeMkdirer        = (*node)(nil)
	_ fusefs.NodeRmdirer        = (*node)(nil)
	_ fusefs.NodeUnlinker       = (*node)(nil)
	_ fusefs.NodeRenamer        = (*node)(nil)
	_ fusefs.NodeSetattrer      = (*node)(nil)
	_ fusefs.NodeCopyFileRanger = (*node)(nil)
	_ fusefs.NodeOpendirHandler = (*node)(nil)
	_ fusefs.FileFsyncdirer     = (*directory)(nil)
	_ fusefs.FileSeekdirer      = (*directory)(nil)
	_ fusefs.FileReaddirenter   = (*directory)(nil)
	_ fusefs.FileReleasedirer   = (*directory)(nil)
)

// WrapChild makes nodes of this kind of all below the root.
func (n *node) WrapChild(_ context.Context, _ fusefs.InodeEmbedder) fusefs.InodeEmbedder {
	return &node{LoopbackNode: fusefs.LoopbackNode{RootData: n.RootData}, disk: n.disk}
}

// below is where a name in this directory is, relative to the root.
func (n *node) below(name string) string { return filepath.Join(n.relative(), name) }

func (n *node) relative() string { return n.Path(n.Root()) }

// Create makes a file, which may be there already.
func (n *node) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*fusefs.Inode, fusefs.FileHandle, uint32, syscall.Errno) {
	if _, errno := n.disk.faults.before(ctx, Write, name, false); errno != 0 {
		return nil, nil, 0, errno
	}
	d := n.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	path := d.names.path(n.below(name))
	_, err := os.Lstat(path)
	existed := err == nil
	// Truncating what is there is a change of its own; the kernel asks for it then.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|int(flags)&syscall.O_EXCL, os.FileMode(mode))
	if err != nil {
		return nil, nil, 0, fusefs.ToErrno(err)
	}
	id, err := identify(path)
	if err != nil {
		f.Close()
		return nil, nil, 0, fusefs.ToErrno(err)
	}
	if !existed {
		d.names.created(n.below(name), id, false)
	}
	h := &handle{disk: d, file: f, id: id, name: name}
	if existed && flags&syscall.O_TRUNC != 0 {
		if errno := h.resize(0); errno != 0 {
			f.Close()
			return nil, nil, 0, errno
		}
	}
	child, errno := n.Lookup(ctx, name, out)
	if errno != 0 {
		f.Close()
		return nil, nil, 0, errno
	}
	return child, h, 0, 0
}

// Open opens a file for reading and writing, whatever it is asked for: the kernel
// has checked that, and whoever writes a page back may read it.
func (n *node) Open(ctx context.Context, flags uint32) (fusefs.FileHandle, uint32, syscall.Errno) {
	path := n.disk.names.path(n.relative())
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, 0, fusefs.ToErrno(err)
	}
	id, err := identify(path)
	if err != nil {
		f.Close()
		return nil, 0, fusefs.ToErrno(err)
	}
	h := &handle{disk: n.disk, file: f, id: id, name: filepath.Base(path)}
	if flags&syscall.O_TRUNC != 0 {
		n.disk.mu.Lock()
		defer n.disk.mu.Unlock()
		if errno := h.resize(0); errno != 0 {
			f.Close()
			return nil, 0, errno
		}
	}
	return h, 0, 0
}

// Mkdir makes a directory.
func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fusefs.Inode, syscall.Errno) {
	if _, errno := n.disk.faults.before(ctx, Write, name, false); errno != 0 {
		return nil, errno
	}
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	child, errno := n.LoopbackNode.Mkdir(ctx, name, mode, out)
	if errno != 0 {
		return nil, errno
	}
	id, err := identify(n.disk.names.path(n.below(name)))
	if err != nil {
		return nil, fusefs.ToErrno(err)
	}
	n.disk.names.created(n.below(name), id, true)
	return child, 0
}

// Rmdir removes an empty directory.
func (n *node) Rmdir(ctx context.Context, name string) syscall.Errno {
	return n.remove(ctx, name, true)
}

// Unlink removes a file.
func (n *node) Unlink(ctx context.Context, name string) syscall.Errno {
	return n.remove(ctx, name, false)
}

func (n *node) remove(ctx context.Context, name string, isDir bool) syscall.Errno {
	if _, errno := n.disk.faults.before(ctx, Write, name, true); errno != 0 {
		return errno
	}
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	return fusefs.ToErrno(n.disk.names.remove(n.below(name), isDir))
}

// Rename moves a file or directory within the disk.
func (n *node) Rename(ctx context.Context, name string, newParent fusefs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	to, ok := newParent.(*node)
	if !ok || flags != 0 {
		return syscall.EINVAL
	}
	if _, errno := n.disk.faults.before(ctx, Write, newName, false); errno != 0 {
		return errno
	}
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	id, err := identify(n.disk.names.path(n.below(name)))
	if err == nil {
		err = n.disk.names.rename(n.below(name), to.below(newName), id)
	}
	return fusefs.ToErrno(err)
}

// Setattr changes attributes: the length is content, the others become durable at
// once.
func (n *node) Setattr(ctx context.Context, fh fusefs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	size, ok := in.GetSize()
	if !ok {
		return n.LoopbackNode.Setattr(ctx, nil, in, out)
	}
	name := filepath.Base(n.relative())
	if _, errno := n.disk.faults.before(ctx, Write, name, false); errno != 0 {
		return errno
	}
	h, isOpen := fh.(*handle)
	if !isOpen {
		opened, _, errno := n.Open(ctx, 0)
		if errno != 0 {
			return errno
		}
		h = opened.(*handle)
		defer h.file.Close()
	}
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	if errno := h.resize(int64(size)); errno != 0 {
		return errno
	}
	return h.Getattr(ctx, out)
}

// CopyFileRange is left to the kernel, which reads and writes then.
func (n *node) CopyFileRange(context.Context, fusefs.FileHandle, uint64, *fusefs.Inode, fusefs.FileHandle, uint64, uint64, uint64) (uint32, syscall.Errno) {
	return 0, syscall.ENOSYS
}

// Link, Symlink and Mknod are refused: the disk could not undo them.
func (n *node) Link(context.Context, fusefs.InodeEmbedder, string, *fuse.EntryOut) (*fusefs.Inode, syscall.Errno) {
	return nil, syscall.ENOTSUP
}

// Symlink is refused.
func (n *node) Symlink(context.Context, string, string, *fuse.EntryOut) (*fusefs.Inode, syscall.Errno) {
	return nil, syscall.ENOTSUP
}

// Mknod is refused.
func (n *node) Mknod(context.Context, string, uint32, uint32, *fuse.EntryOut) (*fusefs.Inode, syscall.Errno) {
	return nil, syscall.ENOTSUP
}
