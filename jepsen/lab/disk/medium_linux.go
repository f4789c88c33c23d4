package disk

import (
	"fmt"
	"math/rand/v2"
	"os"
)

const pageBytes = 4096

// medium is what the disk itself holds of a file, where that is not what its
// readers see.
type medium struct {
	size int64
	// pages are the disk's, by number, of all that was changed since; nil is a page
	// of zeros.
	pages   map[int64][]byte
	pending []change // in order; not fsynced
	// lost: an fsync failed, so that some changes never reach the disk.
	lost bool
}

// change is a write, or a new length.
type change struct {
	number uint64 // counts all changes of the disk
	offset int64  // the new length, of a change of length
	data   []byte
	length bool
}

// record keeps what the disk holds before a change is made to the file that its
// readers see, and the change.
func (m *medium) record(file *os.File, c change) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !m.dirty() {
		m.size = info.Size()
	}
	from, end := c.offset, c.offset+int64(len(c.data))
	if c.length {
		end = info.Size()
	}
	for page := from / pageBytes; page*pageBytes < end; page++ {
		if _, ok := m.pages[page]; ok {
			continue
		}
		content := make([]byte, pageBytes)
		n, err := file.ReadAt(content, page*pageBytes)
		if n == 0 && err != nil && page*pageBytes < info.Size() {
			return err
		}
		if m.pages == nil {
			m.pages = make(map[int64][]byte)
		}
		m.pages[page] = clipped(content)
	}
	m.pending = append(m.pending, c)
	return nil
}

// clipped is nil for a page of zeros.
func clipped(page []byte) []byte {
	for _, b := range page {
		if b != 0 {
			return page
		}
	}
	return nil
}

// dirty is whether the disk differs from what is seen.
func (m *medium) dirty() bool { return m.lost || len(m.pending) > 0 || len(m.pages) > 0 }

// until is how many of the changes that are pending came before a number.
func (m *medium) until(number uint64) int {
	count := 0
	for count < len(m.pending) && m.pending[count].number < number {
		count++
	}
	return count
}

// synced makes the oldest changes durable.
func (m *medium) synced(count int) {
	if count == len(m.pending) && !m.lost {
		*m = medium{}
		return
	}
	for _, c := range m.pending[:count] {
		m.apply(c)
	}
	m.pending = m.pending[count:]
}

// dropped is what a failed fsync does: the changes are seen, and never written.
func (m *medium) dropped(count int) {
	if count > 0 {
		m.pending, m.lost = m.pending[count:], true
	}
}

// apply makes a change on the disk.
func (m *medium) apply(c change) {
	if m.pages == nil {
		m.pages = make(map[int64][]byte)
	}
	if c.length {
		if c.offset < m.size {
			m.truncate(c.offset)
		}
		m.size = c.offset
		return
	}
	for at := c.offset; at < c.offset+int64(len(c.data)); {
		page, within := at/pageBytes, at%pageBytes
		if m.pages[page] == nil {
			m.pages[page] = make([]byte, pageBytes)
		}
		at += int64(copy(m.pages[page][within:], c.data[at-c.offset:]))
	}
	m.size = max(m.size, c.offset+int64(len(c.data)))
}

// truncate leaves zeros behind the new end.
func (m *medium) truncate(size int64) {
	for page, content := range m.pages {
		switch start := page * pageBytes; {
		case start >= size:
			m.pages[page] = nil
		case start+pageBytes > size && content != nil:
			clear(content[size-start:])
		}
	}
}

// Lost says what a power cut did to one file.
type Lost struct {
	File string // relative to Dir
	// Writes that were not fsynced, and what became of them.
	Kept, Torn, Dropped int
}

// cut decides what of the changes that were not fsynced the disk has: nothing,
// those up to one that is torn, or each by itself.
func (m *medium) cut(random *rand.Rand) (l Lost) {
	const nothing, upTo = 0, 1
	how, end := random.IntN(3), random.IntN(len(m.pending)+1)
	for i, c := range m.pending {
		fate := random.IntN(3)
		switch {
		case how == nothing, how == upTo && i > end:
			fate = 0
		case how == upTo && i < end:
			fate = 1
		case how == upTo:
			fate = 2
		}
		if fate == 2 && (c.length || len(c.data) < 2) {
			fate = 0
		}
		switch fate {
		case 0:
			l.Dropped++
		case 1:
			m.apply(c)
			l.Kept++
		default:
			c.data = c.data[:1+random.IntN(len(c.data)-1)]
			m.apply(c)
			l.Torn++
		}
	}
	m.pending = nil
	return l
}

// settle makes what is seen what the disk has.
func (m *medium) settle(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("power cut: %w", err)
	}
	defer f.Close()
	if err := f.Truncate(m.size); err != nil {
		return fmt.Errorf("power cut: %w", err)
	}
	zeros := make([]byte, pageBytes)
	for page, content := range m.pages {
		at := page * pageBytes
		if at >= m.size {
			continue
		}
		if content == nil {
			content = zeros
		}
		if _, err := f.WriteAt(content[:min(pageBytes, m.size-at)], at); err != nil {
			return fmt.Errorf("power cut: %w", err)
		}
	}
	return nil
}
