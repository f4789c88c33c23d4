package disk

import "os"

// record keeps what the disk holds of a file before a change is made to it. The lock
// is held.
func (d *Faulty) record(file *os.File, id fileID, c change) error {
	if d.held+int64(len(c.data)) > maxHeld {
		d.synced(id, d.count) // written back
	}
	m := d.files[id]
	if m == nil {
		m = &medium{}
		d.files[id] = m
	}
	c.number = d.count
	if err := m.record(file, c); err != nil {
		return err
	}
	d.count++
	d.held += int64(len(c.data))
	return nil
}

// now is the number of the next change.
func (d *Faulty) now() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count
}

// synced makes a file's changes before a number durable. The lock is held.
func (d *Faulty) synced(id fileID, before uint64) {
	m := d.files[id]
	if m == nil {
		return
	}
	m.synced(d.release(m, before))
	if !m.dirty() {
		delete(d.files, id)
	}
}

// dropped loses a file's changes before a number for ever. The lock is held.
func (d *Faulty) dropped(id fileID, before uint64) {
	if m := d.files[id]; m != nil {
		m.dropped(d.release(m, before))
	}
}

// release counts the changes before a number, which are not held any more.
func (d *Faulty) release(m *medium, before uint64) int {
	count := m.until(before)
	for _, c := range m.pending[:count] {
		d.held -= int64(len(c.data))
	}
	return count
}
