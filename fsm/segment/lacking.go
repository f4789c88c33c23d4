package segment

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
)

// Lacking looks how much of an execution log is not in its files, up to where they go:
// bytes of blocks that a node would have to fetch from others, and marked damage. It
// needs no state, and so knows nothing of what the files claim wrongly: at least that
// much is missing. What is archived is not.
func Lacking(dir string) (bytes uint64, err error) {
	d := directory(dir)
	starts, err := d.files(segmentSuffix, compactedSuffix)
	if err != nil {
		return 0, err
	}
	var end uint64
	for _, start := range starts {
		from, to, err := d.extent(start)
		if err != nil {
			return 0, fmt.Errorf("execution log: %w", err)
		}
		bytes += max(from, end) - end
		end = max(end, to)
	}
	return bytes, nil
}

// files are the start positions of the files with any of some suffixes, each once.
func (d directory) files(suffixes ...string) ([]uint64, error) {
	var all []uint64
	for _, suffix := range suffixes {
		starts, err := d.starts(suffix)
		if errors.Is(err, os.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, starts...)
	}
	slices.SortFunc(all, cmp.Compare[uint64])
	return slices.Compact(all), nil
}

// extent is from where to where a segment's blocks are here; from is to when there are
// none.
func (d directory) extent(start uint64) (from, to uint64, err error) {
	if f, err := os.Open(d.path(start, compactedSuffix)); err == nil {
		defer f.Close()
		c, err := readCompacted(f, f.Name())
		return start, start + c.bytes, err
	} else if !notExist(err) {
		return 0, 0, err
	}
	info, err := os.Stat(d.path(start, segmentSuffix))
	if err != nil {
		return 0, 0, err
	}
	from, to = start, start+uint64(max(info.Size()-headerBytes, 0))
	switch g, err := d.readGap(start); {
	case err == nil && g.start == start:
		from = min(max(g.from, start), to)
	case err != nil && !notExist(err):
		return 0, 0, err
	}
	if _, err := os.Lstat(d.path(start, badSuffix)); err == nil {
		from = to // it is fetched anew
	}
	return from, to, nil
}
