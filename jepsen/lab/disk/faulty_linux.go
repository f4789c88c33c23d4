package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	fusefs "github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// Faulty is a file system in user space over a directory, that fails when it is
// told to.
type Faulty struct {
	mount  string
	server *fuse.Server
	root   *node
	faults faults

	mu    sync.Mutex // guards what is below, and the order of changes
	names names
	files map[fileID]*medium
	held  int64  // bytes of all pending writes
	count uint64 // of all changes so far
}

// maxHeld bounds the bytes of writes that are not fsynced: beyond, a file's become
// durable when the next one comes, as they do when the kernel's cache is full.
const maxHeld = 64 << 20

// Names below the directory of a faulty disk.
const (
	realName = "real"
	goneName = "gone"
)

// NewFaulty mounts a faulty file system over DIR/real, which is made when it is
// missing. The directory may be on an Image. The file system works as long as this
// process lives.
func NewFaulty(dir string) (*Faulty, error) {
	for _, name := range []string{realName, goneName, mountName} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return nil, fmt.Errorf("faulty disk: %w", err)
		}
	}
	dir, err := absolute(dir)
	if err != nil {
		return nil, err
	}
	d := &Faulty{mount: filepath.Join(dir, mountName), files: make(map[fileID]*medium)}
	d.names = names{real: filepath.Join(dir, realName), gone: filepath.Join(dir, goneName), count: &d.count}
	return d, d.serve()
}

// serve mounts. Names and attributes are cached for as long as the kernel likes:
// nobody changes them but through the mount.
func (d *Faulty) serve() error {
	d.root = newRoot(d)
	long := time.Hour
	server, err := fusefs.Mount(d.mount, d.root, &fusefs.Options{
		EntryTimeout: &long, AttrTimeout: &long,
		NullPermissions: true,
		MountOptions: fuse.MountOptions{
			FsName: mark, Name: mark, DirectMountStrict: true, AllowOther: true, DisableXAttrs: true,
			Options: []string{"default_permissions"},
		},
	})
	if err != nil {
		return fmt.Errorf("faulty disks need root and /dev/fuse (modprobe fuse): %w", err)
	}
	d.server = server
	return nil
}

// Dir is where the file system is mounted.
func (d *Faulty) Dir() string { return d.mount }

// Inject switches a fault on, beside those that are. What it gives tells how many
// operations were struck so far.
func (d *Faulty) Inject(f Fault) (struck func() int, err error) {
	if err := f.Valid(); err != nil {
		return nil, err
	}
	a := d.faults.add(f)
	if f.Op == Read {
		forget(d.root.EmbeddedInode())
	}
	return func() int { return d.faults.struck(a) }, nil
}

// Heal switches all faults off; what waits for a delay goes on. What was lost stays
// lost, and bits that were flipped are read right again.
func (d *Faulty) Heal() {
	d.faults.heal()
	forget(d.root.EmbeddedInode())
}

// forget drops what the kernel has cached of the files at and below a node.
func forget(n *fusefs.Inode) {
	_ = n.NotifyContent(0, 0) // ENOENT: nothing was cached
	for _, child := range n.Children() {
		forget(child)
	}
}

// Loss says what a power cut did.
type Loss struct {
	// Names is how many changes of names were undone, of so many that were not
	// durable.
	Names, OfNames int
	Files          []Lost // those with writes that were not fsynced, or lost before
}

// LoseUnsynced takes the power away and gives it back. What becomes of all that was
// not fsynced follows from the seed: lost, kept or torn. Who uses the disk must be
// dead first; it is an error when something still does, and nothing is done then.
func (d *Faulty) LoseUnsynced(seed uint64) (Loss, error) {
	if err := d.unmount(); err != nil {
		return Loss{}, err
	}
	loss, err := d.lose(rand.New(rand.NewPCG(seed, 0)))
	return loss, errors.Join(err, d.serve())
}

func (d *Faulty) lose(random *rand.Rand) (loss Loss, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	loss.OfNames = len(d.names.changes)
	keep := random.IntN(loss.OfNames + 1)
	loss.Names = loss.OfNames - keep
	if err := d.names.undo(keep); err != nil {
		return loss, err
	}
	err = filepath.WalkDir(d.names.real, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		id, err := identify(path)
		m := d.files[id]
		if err != nil || m == nil || !m.dirty() {
			return err
		}
		l := m.cut(random)
		if l.File, err = filepath.Rel(d.names.real, path); err != nil {
			return err
		}
		loss.Files = append(loss.Files, l)
		return m.settle(path)
	})
	d.files, d.held = make(map[fileID]*medium), 0
	return loss, err
}

func (d *Faulty) unmount() error {
	if err := unix.Access(d.mount, unix.F_OK); err != nil {
		return fmt.Errorf("%s is not served any more: %w", d.mount, err)
	}
	if err := unmount(d.mount); err != nil {
		return err
	}
	d.server.Wait()
	return nil
}

// Close heals, unmounts, and leaves the directory without what was only there to
// undo things.
func (d *Faulty) Close() error {
	d.faults.heal()
	if err := d.unmount(); err != nil {
		return err
	}
	return os.RemoveAll(d.names.gone)
}
