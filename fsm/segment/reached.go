package segment

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// Reached looks how far the files of an execution log go: the Raft index of the last
// sound block, and its file; 0 when there is none. Nothing but checksums is verified,
// and what lies behind damage is not seen: the log goes that far at least.
func Reached(dir string) (index uint64, path string, err error) {
	d := directory(dir)
	starts, err := d.starts(segmentSuffix)
	if errors.Is(err, os.ErrNotExist) {
		return 0, "", nil
	}
	if err != nil {
		return 0, "", err
	}
	for _, start := range slices.Backward(starts) { // the newest may hold none yet
		path := d.path(start, segmentSuffix)
		index, err := d.lastBlock(start, path)
		if err != nil || index > 0 {
			return index, path, err
		}
	}
	return 0, "", nil
}

// lastBlock is the Raft index of the last block before the file's first damage.
func (d directory) lastBlock(start uint64, path string) (index uint64, err error) {
	from := start
	if g, err := d.readGap(start); err == nil && g.start == start && g.from >= start {
		from = g.from
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("open segment: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("open segment: %w", err)
	}
	offset := offsetIn(start, from)
	scanner := NewScanner(io.NewSectionReader(f, offset, max(info.Size()-offset, 0)))
	for {
		raw, err := scanner.Next()
		if err != nil && !contentual(err) {
			return 0, fmt.Errorf("read segment: %w", err)
		}
		if err != nil {
			return index, nil // the end, or damage: others judge that
		}
		block, err := logging.Decode(raw)
		if err != nil {
			return index, nil
		}
		index = block.Index
	}
}
