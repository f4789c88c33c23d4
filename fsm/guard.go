package fsm

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// MaxCrashes at one index before the node holds itself in safe mode (EV-14).
const MaxCrashes = 3

const (
	guardFile      = "applying.bin"
	quarantineFile = "quarantine.json"
	guardBytes     = 64
)

// Guard notices an event whose Apply ends the process, over and over, at one
// index. What is being applied stands in a small shared memory mapping, whose
// pages the operating system keeps when the process dies, by SIGKILL or by the
// memory killer too; a write to it costs a few instructions and no system call.
//
//	┌───────────┬────────┬───────────┬───────┐
//	│ applying  │ digest │ crashedAt │ count │   u64, 32 bytes, u64, u64; little endian
//	└───────────┴────────┴───────────┴───────┘
//
// A nil Guard guards nothing.
type Guard struct {
	mapped     []byte
	quarantine map[uint64]string // index → hex SHA-256 of the entry
}

// Quarantine names an entry that operators keep from running, on every node.
type Quarantine struct {
	Index  uint64 `json:"index"`
	Digest string `json:"digest"` // hex SHA-256 of the Raft entry's bytes
}

// SafeModeError says that the node will not apply an event again that ended
// the process MaxCrashes times.
type SafeModeError struct {
	Index  uint64
	Digest string // hex SHA-256 of the Raft entry's bytes
	Dir    string // where the guard's files are

	// Mistaken is the digest that the quarantine names for Index, when that is
	// another one; empty when it names none.
	Mistaken string
}

// Error tells what happened.
func (e *SafeModeError) Error() string {
	return fmt.Sprintf("applying the entry at index %d, digest %s, ended the process %d times", e.Index, e.Digest, MaxCrashes)
}

// Hint tells what an operator can do (EV-14).
func (e *SafeModeError) Hint() string {
	hint := fmt.Sprintf("when every node stops at it, put [{\"index\":%d,\"digest\":\"%s\"}] into %s, and into the same file of every other node, and start the nodes again: the event is recorded as refused. When others have applied it, it must not be quarantined here: remove %s and start the node again, which makes it try %d times more",
		e.Index, e.Digest, filepath.Join(e.Dir, quarantineFile), filepath.Join(e.Dir, guardFile), MaxCrashes)
	if e.Mistaken != "" {
		hint = fmt.Sprintf("%s names the digest %s for this index, which is not this event's: ", quarantineFile, e.Mistaken) + hint
	}
	return hint
}

// OpenGuard opens the guard in dir. It returns a *SafeModeError when the last
// MaxCrashes processes that applied the event ended in it and it is not
// quarantined.
func OpenGuard(dir string) (*Guard, error) {
	g := &Guard{quarantine: make(map[uint64]string)}
	if err := g.readQuarantine(filepath.Join(dir, quarantineFile)); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, guardFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("fsm: crash guard: %w", err)
	}
	defer f.Close()
	if err := f.Truncate(guardBytes); err != nil {
		return nil, fmt.Errorf("fsm: crash guard: %w", err)
	}
	g.mapped, err = unix.Mmap(int(f.Fd()), 0, guardBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("fsm: crash guard: %w", err)
	}
	return g, g.judge(dir)
}

// judge counts the crash that the last process left behind, if it did.
func (g *Guard) judge(dir string) error {
	applying := binary.LittleEndian.Uint64(g.mapped[0:])
	if applying == 0 {
		return nil
	}
	digest := hex.EncodeToString(g.mapped[8:40])
	crashedAt, count := binary.LittleEndian.Uint64(g.mapped[40:]), binary.LittleEndian.Uint64(g.mapped[48:])
	if crashedAt != applying {
		count = 0
	}
	count++
	binary.LittleEndian.PutUint64(g.mapped[40:], applying)
	binary.LittleEndian.PutUint64(g.mapped[48:], count)
	if count >= MaxCrashes && g.quarantine[applying] != digest {
		return &SafeModeError{Index: applying, Digest: digest, Dir: dir, Mistaken: g.quarantine[applying]}
	}
	binary.LittleEndian.PutUint64(g.mapped[0:], 0)
	return nil
}

func (g *Guard) readQuarantine(path string) error {
	content, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("fsm: %w", err)
	}
	var list []Quarantine
	if err := json.Unmarshal(content, &list); err != nil {
		return fmt.Errorf("fsm: %s must be a JSON list of {\"index\", \"digest\"}: %w", path, err)
	}
	for i, q := range list {
		digest, err := hex.DecodeString(q.Digest)
		if q.Index == 0 || err != nil || len(digest) != sha256.Size {
			return fmt.Errorf("fsm: %s: item %d must have an index from 1 and a digest of 64 hex digits", path, i)
		}
		g.quarantine[q.Index] = hex.EncodeToString(digest) // in lower case
	}
	return nil
}

// enter notes that the entry is about to be applied; true means that it is
// quarantined.
func (g *Guard) enter(index uint64, entry []byte) (quarantined bool) {
	if g == nil {
		return false
	}
	if want, ok := g.quarantine[index]; ok {
		sum := sha256.Sum256(entry)
		quarantined = hex.EncodeToString(sum[:]) == want
	}
	if binary.LittleEndian.Uint64(g.mapped[40:]) == index {
		// Only an entry that was fatal before is worth the digest's time.
		sum := sha256.Sum256(entry)
		copy(g.mapped[8:40], sum[:])
	}
	binary.LittleEndian.PutUint64(g.mapped[0:], index)
	return quarantined
}

// leave notes that the entry was applied. One that had been fatal before is not
// any more: what the guard counts are crashes in a row.
func (g *Guard) leave() {
	if g == nil {
		return
	}
	applied := binary.LittleEndian.Uint64(g.mapped[0:])
	binary.LittleEndian.PutUint64(g.mapped[0:], 0)
	if binary.LittleEndian.Uint64(g.mapped[40:]) == applied {
		binary.LittleEndian.PutUint64(g.mapped[40:], 0)
		binary.LittleEndian.PutUint64(g.mapped[48:], 0)
	}
}

// Close ends the guard.
func (g *Guard) Close() error {
	if g == nil || g.mapped == nil {
		return nil
	}
	err := unix.Munmap(g.mapped)
	g.mapped = nil
	return err
}
