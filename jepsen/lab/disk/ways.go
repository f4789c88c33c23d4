package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// Way is how a file is damaged.
type Way string

// Ways.
const (
	Flip     Way = "flip"     // one bit is another
	Truncate Way = "truncate" // the end is missing
	Zero     Way = "zero"     // a page is zeros
	Stale    Way = "stale"    // an older copy is in its place
	Missing  Way = "missing"  // the file is gone
	AnyWay   Way = "any"
)

var allWays = []Way{Flip, Truncate, Zero, Stale, Missing}

// Ways are all that AnyWay stands for.
func Ways() []Way { return slices.Clone(allWays) }

// local ways damage a range of a file and leave the rest as it is.
var local = []Way{Flip, Zero}

// Done says exactly what was damaged.
type Done struct {
	Kind   Kind
	Way    Way
	File   string // relative to the data directory
	Offset int64  // of the first byte that may differ
	Length int64  // of what differs, or is missing
	Bit    int    // which bit of the byte, of a Flip
}

// Detail is what a history records.
func (d Done) Detail() map[string]any {
	return map[string]any{"kind": d.Kind, "way": d.Way, "file": d.File, "offset": d.Offset, "length": d.Length, "bit": d.Bit}
}

// String is for people.
func (d Done) String() string {
	return fmt.Sprintf("%s %s (%s) at %d, %d bytes", d.Way, d.File, d.Kind, d.Offset, d.Length)
}

// ErrNothing: a file has nothing in this range that could be damaged so.
var ErrNothing = errors.New("nothing to damage there")

// damage damages the part-th of so many ranges of a file, which local ways stay in.
func (f Files) damage(found Found, way Way, random *rand.Rand, part, parts int64) (Done, error) {
	d := Done{Kind: found.Kind, Way: way, File: found.File}
	full := filepath.Join(f.Dir, found.File)
	switch way {
	case Missing:
		d.Length = found.Size
		return d, errors.Join(os.Remove(full), syncPath(filepath.Dir(full)))
	case Stale:
		return f.putBack(d, full)
	}
	file, err := os.OpenFile(full, os.O_RDWR, 0)
	if err != nil {
		return d, err
	}
	defer file.Close()
	used, err := usedBytes(file, found.Size)
	if err != nil {
		return d, err
	}
	from, end := used*part/parts, used*(part+1)/parts
	if from == end {
		return d, ErrNothing
	}
	d.Offset = from + random.Int64N(end-from)
	switch way {
	case Flip:
		err = flip(file, &d, random)
	case Zero:
		err = zero(file, &d, from, end)
	case Truncate:
		d.Length = found.Size - d.Offset
		err = file.Truncate(d.Offset)
	}
	if err != nil {
		return d, err
	}
	return d, file.Sync()
}

// usedBytes is where the zeros begin that a file ends with: room that was allocated
// ahead says nothing.
func usedBytes(file io.ReaderAt, size int64) (int64, error) {
	page := make([]byte, pageSize)
	for end := size; end > 0; {
		from := (end - 1) / pageSize * pageSize
		n, err := file.ReadAt(page[:end-from], from)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if kept := len(bytes.TrimRight(page[:n], "\x00")); kept > 0 {
			return from + int64(kept), nil
		}
		end = from
	}
	return 0, nil
}

const pageSize = 4096

func flip(file *os.File, d *Done, random *rand.Rand) error {
	b := make([]byte, 1)
	if _, err := file.ReadAt(b, d.Offset); err != nil {
		return err
	}
	d.Length, d.Bit = 1, random.IntN(8)
	b[0] ^= 1 << d.Bit
	_, err := file.WriteAt(b, d.Offset)
	return err
}

// zero takes the page around the offset, as far as it is in the range.
func zero(file *os.File, d *Done, from, end int64) error {
	start := max(from, d.Offset/pageSize*pageSize)
	page := make([]byte, min(end, d.Offset/pageSize*pageSize+pageSize)-start)
	if _, err := file.ReadAt(page, start); err != nil {
		return err
	}
	if len(bytes.Trim(page, "\x00")) == 0 {
		return ErrNothing
	}
	d.Offset, d.Length = start, int64(len(page))
	_, err := file.WriteAt(make([]byte, len(page)), start)
	return err
}

// putBack puts the copy in a file's place that Keep took.
func (f Files) putBack(d Done, full string) (Done, error) {
	old, err := os.ReadFile(filepath.Join(f.Old, d.File))
	if errors.Is(err, os.ErrNotExist) || f.Old == "" {
		return d, ErrNothing
	}
	if err != nil {
		return d, err
	}
	present, err := os.ReadFile(full)
	if err != nil {
		return d, err
	}
	same := 0
	for same < min(len(old), len(present)) && old[same] == present[same] {
		same++
	}
	if same == len(present) && same == len(old) {
		return d, ErrNothing
	}
	d.Offset, d.Length = int64(same), int64(max(len(old), len(present))-same)
	if err := os.WriteFile(full, old, 0o600); err != nil {
		return d, err
	}
	return d, syncPath(full)
}

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
