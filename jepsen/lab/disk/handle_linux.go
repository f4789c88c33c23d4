package disk

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"syscall"

	fusefs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// handle is an open file. The kernel caches what it reads, and writes through: so a
// file that is mapped into memory shows what is written.
type handle struct {
	disk *Faulty
	file *os.File
	id   fileID
	name string // its base name when it was opened
}

var (
	_ fusefs.FileReader    = (*handle)(nil)
	_ fusefs.FileWriter    = (*handle)(nil)
	_ fusefs.FileFsyncer   = (*handle)(nil)
	_ fusefs.FileFlusher   = (*handle)(nil)
	_ fusefs.FileReleaser  = (*handle)(nil)
	_ fusefs.FileGetattrer = (*handle)(nil)
	_ fusefs.FileAllocater = (*handle)(nil)
	_ fusefs.FileLseeker   = (*handle)(nil)
)

// Read reads. A bit that flips is in the middle of what is read.
func (h *handle) Read(ctx context.Context, dest []byte, offset int64) (fuse.ReadResult, syscall.Errno) {
	fault, errno := h.disk.faults.before(ctx, Read, h.name, false)
	if errno != 0 {
		return nil, errno
	}
	n, err := h.file.ReadAt(dest, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fusefs.ToErrno(err)
	}
	if fault != nil && fault.Delay == 0 && n > 0 {
		dest[n/2] ^= 0x10
	}
	return fuse.ReadResultData(dest[:n]), 0
}

// Write writes through to the directory below; the disk has it once it is fsynced.
func (h *handle) Write(ctx context.Context, data []byte, offset int64) (uint32, syscall.Errno) {
	fault, errno := h.disk.faults.before(ctx, Write, h.name, false)
	if errno != 0 && !fault.Part {
		return 0, errno
	}
	if errno != 0 {
		data = data[:len(data)/2]
	}
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if len(data) > 0 {
		if err := h.disk.record(h.file, h.id, change{offset: offset, data: bytes.Clone(data)}); err != nil {
			return 0, fusefs.ToErrno(err)
		}
		if n, err := h.file.WriteAt(data, offset); err != nil {
			return uint32(n), fusefs.ToErrno(err)
		}
	}
	return uint32(len(data)), errno
}

// resize changes the length. The disk's lock is held.
func (h *handle) resize(size int64) syscall.Errno {
	if err := h.disk.record(h.file, h.id, change{offset: size, length: true}); err != nil {
		return fusefs.ToErrno(err)
	}
	return fusefs.ToErrno(h.file.Truncate(size))
}

// Allocate makes room, and a file longer; holes are not made.
func (h *handle) Allocate(ctx context.Context, offset, size uint64, mode uint32) syscall.Errno {
	if _, errno := h.disk.faults.before(ctx, Write, h.name, false); errno != 0 {
		return errno
	}
	if mode&^unix.FALLOC_FL_KEEP_SIZE != 0 {
		return syscall.ENOTSUP
	}
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	info, err := h.file.Stat()
	if err == nil && mode == 0 && int64(offset+size) > info.Size() {
		err = h.disk.record(h.file, h.id, change{offset: int64(offset + size), length: true})
	}
	if err == nil {
		err = unix.Fallocate(int(h.file.Fd()), mode, int64(offset), int64(size))
	}
	return fusefs.ToErrno(err)
}

// Fsync makes durable what was written before it, or never: see the package
// comment.
func (h *handle) Fsync(ctx context.Context, _ uint32) syscall.Errno {
	d := h.disk
	before := d.now()
	if _, errno := d.faults.before(ctx, Fsync, h.name, false); errno == syscall.EINTR {
		return errno
	} else if errno != 0 {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.dropped(h.id, before)
		return errno
	}
	if err := h.file.Sync(); err != nil {
		return fusefs.ToErrno(err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.synced(h.id, before)
	d.names.syncedFile(h.id, before)
	return 0
}

// Flush is what close does first.
func (h *handle) Flush(context.Context) syscall.Errno { return 0 }

// Release closes.
func (h *handle) Release(context.Context) syscall.Errno { return fusefs.ToErrno(h.file.Close()) }

// Getattr tells a file's attributes, also of one that has lost its name.
func (h *handle) Getattr(_ context.Context, out *fuse.AttrOut) syscall.Errno {
	var s syscall.Stat_t
	if err := syscall.Fstat(int(h.file.Fd()), &s); err != nil {
		return fusefs.ToErrno(err)
	}
	out.FromStat(&s)
	return 0
}

// Lseek finds holes.
func (h *handle) Lseek(_ context.Context, offset uint64, whence uint32) (uint64, syscall.Errno) {
	n, err := unix.Seek(int(h.file.Fd()), int64(offset), int(whence))
	return uint64(n), fusefs.ToErrno(err)
}
