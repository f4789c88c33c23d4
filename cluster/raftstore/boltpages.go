package raftstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// The database library takes its pages for sound: over a damaged one it ends the
// process, in words that say nothing of the file. So every page that it would use is
// looked at before. This is the layout of its files, version 2, little-endian:
//
//	page     id u64, kind u16, count u16, overflow pages u32, then what the kind says
//	meta     magic u32, version u32, page size u32, flags u32, root u64, sequence u64,
//	         free list u64, pages u64, transaction u64, FNV-64a of all before
//	branch   count times: offset u32, key bytes u32, page u64
//	free     count times: page u64; when count is 65535, the count u64 first
//	leaf     count times: flags u32, offset u32, key bytes u32, value bytes u32
//
// An offset counts from its own element. The value of a leaf element with the flag 1
// is a bucket: root u64, sequence u64, and when the root is 0 a leaf of its own.
const (
	boltPageHead   = 16
	boltElement    = 16
	boltMetaBytes  = 64
	boltBranch     = 1
	boltLeaf       = 2
	boltMagic      = 0xED0CDAED
	boltVersion    = 2
	boltBucket     = 1
	boltBucketHead = 16
	boltFree       = 16
	boltNoFree     = 1<<64 - 1
	boltDepth      = 64 // of a tree; one that is sound has a handful
)

// boltPages checks the pages of one database file.
type boltPages struct {
	file  io.ReaderAt
	size  int64
	page  int64 // bytes
	count uint64
	root  uint64
	free  uint64 // page of the free list, or boltNoFree
	seen  map[uint64]bool
}

// checkPages looks at each page that is in use. The error names page and offset.
func checkPages(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	p := &boltPages{file: f, size: info.Size(), seen: make(map[uint64]bool)}
	if err := p.readMeta(); err != nil {
		return err
	}
	if p.size/p.page < int64(p.count) {
		return fmt.Errorf("it has %d bytes, and uses %d pages of %d: %w", p.size, p.count, p.page, ErrCorrupt)
	}
	if _, err = p.tree(p.root, span{}, 0); err != nil || p.free == boltNoFree {
		return err
	}
	return p.freeList()
}

// readMeta takes the newer one of the two meta pages that are sound.
func (p *boltPages) readMeta() error {
	var newest uint64
	for _, size := range []int64{0, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16} {
		var b [boltMetaBytes]byte
		if _, err := p.file.ReadAt(b[:], size+boltPageHead); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		sum := fnv.New64a()
		sum.Write(b[:56])
		page, transaction := int64(binary.LittleEndian.Uint32(b[8:])), binary.LittleEndian.Uint64(b[48:])
		switch {
		case binary.LittleEndian.Uint32(b[0:]) != boltMagic, binary.LittleEndian.Uint32(b[4:]) != boltVersion,
			binary.LittleEndian.Uint64(b[56:]) != sum.Sum64(), page < 1<<10, size != 0 && size != page,
			p.page != 0 && transaction < newest:
			continue
		}
		p.page, newest = page, transaction
		p.root, p.free, p.count = binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[32:]), binary.LittleEndian.Uint64(b[40:])
	}
	if p.page == 0 {
		return fmt.Errorf("neither of its meta pages is sound: %w", ErrCorrupt)
	}
	return nil
}

func (p *boltPages) damaged(id uint64, what string) error {
	return fmt.Errorf("page %d at offset %d: %s: %w", id, int64(id)*p.page, what, ErrCorrupt)
}

// span is what keys of a page may be: from low on, and before high; nil is no bound.
type span struct{ low, high []byte }

// pageBody is what follows a page's head.
type pageBody struct {
	id       uint64
	branch   bool
	elements int64
	bytes    *io.SectionReader
}

// tree checks a page and those below it, and gives its last key.
func (p *boltPages) tree(id uint64, keys span, depth int) (last []byte, err error) {
	if depth > boltDepth {
		return nil, p.damaged(id, "is too deep")
	}
	body, err := p.open(id)
	if err != nil {
		return nil, err
	}
	if body.branch {
		return p.branch(body, keys, depth)
	}
	return p.leaf(body, keys, depth)
}

// open checks a page's head.
func (p *boltPages) open(id uint64) (*pageBody, error) {
	if id < 2 || id >= p.count {
		return nil, p.damaged(id, "is none of the file's")
	}
	var head [boltPageHead]byte
	if _, err := p.file.ReadAt(head[:], int64(id)*p.page); err != nil {
		return nil, fmt.Errorf("page %d at offset %d: %w", id, int64(id)*p.page, err)
	}
	kind, overflow := binary.LittleEndian.Uint16(head[8:]), uint64(binary.LittleEndian.Uint32(head[12:]))
	if binary.LittleEndian.Uint64(head[:]) != id || (kind != boltBranch && kind != boltLeaf) || overflow >= p.count-id {
		return nil, p.damaged(id, "its head is damaged")
	}
	for i := range overflow + 1 {
		if p.seen[id+i] {
			return nil, p.damaged(id, "is used twice")
		}
		p.seen[id+i] = true
	}
	body := &pageBody{
		id: id, branch: kind == boltBranch, elements: int64(binary.LittleEndian.Uint16(head[10:])),
		bytes: io.NewSectionReader(p.file, int64(id)*p.page+boltPageHead, int64(overflow+1)*p.page-boltPageHead),
	}
	if body.elements*boltElement > body.bytes.Size() || (body.branch && body.elements == 0) {
		return nil, p.damaged(id, "its head is damaged")
	}
	return body, nil
}

// element gives the bytes of the i-th element.
func (p *boltPages) element(body *pageBody, i int64) (b [boltElement]byte, err error) {
	if _, err := body.bytes.ReadAt(b[:], i*boltElement); err != nil {
		return b, fmt.Errorf("page %d at offset %d: %w", body.id, int64(body.id)*p.page, err)
	}
	return b, nil
}

// slice gives bytes of a page that an element refers to.
func (p *boltPages) slice(body *pageBody, from, length int64) ([]byte, error) {
	if from+length > body.bytes.Size() {
		return nil, p.damaged(body.id, "a key or a value is not in it")
	}
	b := make([]byte, length)
	if n, err := body.bytes.ReadAt(b, from); int64(n) < length {
		return nil, fmt.Errorf("page %d at offset %d: %w", body.id, int64(body.id)*p.page, err)
	}
	return b, nil
}

func (p *boltPages) branch(body *pageBody, keys span, depth int) (last []byte, err error) {
	next, child, err := p.child(body, 0)
	if err != nil {
		return nil, err
	}
	last = keys.low
	for i := range body.elements {
		key, id := next, child
		if (i == 0 && bytes.Compare(key, last) < 0) || (i > 0 && bytes.Compare(key, last) <= 0) || !keys.under(key) {
			return nil, p.damaged(body.id, "its keys are not in order")
		}
		high := keys.high
		if i+1 < body.elements {
			if next, child, err = p.child(body, i+1); err != nil {
				return nil, err
			}
			high = next
		}
		if last, err = p.tree(id, span{key, high}, depth+1); err != nil {
			return nil, err
		}
	}
	return last, nil
}

// child gives the i-th element of a branch: the first key below it, and its page.
func (p *boltPages) child(body *pageBody, i int64) (key []byte, id uint64, err error) {
	b, err := p.element(body, i)
	if err != nil {
		return nil, 0, err
	}
	key, err = p.slice(body, i*boltElement+int64(binary.LittleEndian.Uint32(b[:])), int64(binary.LittleEndian.Uint32(b[4:])))
	return key, binary.LittleEndian.Uint64(b[8:]), err
}

func (s span) under(key []byte) bool { return s.high == nil || bytes.Compare(key, s.high) < 0 }

func (p *boltPages) leaf(body *pageBody, keys span, depth int) (last []byte, err error) {
	last = keys.low
	for i := range body.elements {
		b, err := p.element(body, i)
		if err != nil {
			return nil, err
		}
		from, length := i*boltElement+int64(binary.LittleEndian.Uint32(b[4:])), int64(binary.LittleEndian.Uint32(b[8:]))
		key, err := p.slice(body, from, length)
		if err != nil {
			return nil, err
		}
		if (i == 0 && bytes.Compare(key, last) < 0) || (i > 0 && bytes.Compare(key, last) <= 0) || !keys.under(key) {
			return nil, p.damaged(body.id, "its keys are not in order")
		}
		if err := p.value(body, binary.LittleEndian.Uint32(b[:]), from+length, int64(binary.LittleEndian.Uint32(b[12:])), depth); err != nil {
			return nil, err
		}
		last = key
	}
	return last, nil
}

// value checks a value, which is a bucket if its flag says so. What entries hold has
// checksums of its own.
func (p *boltPages) value(body *pageBody, flags uint32, from, length int64, depth int) error {
	switch {
	case from+length > body.bytes.Size():
		return p.damaged(body.id, "a value is not in it")
	case flags == 0:
		return nil
	case flags != boltBucket || length < boltBucketHead:
		return p.damaged(body.id, "a bucket's head is damaged")
	}
	b, err := p.slice(body, from, length)
	if err != nil {
		return err
	}
	if root := binary.LittleEndian.Uint64(b); root != 0 {
		_, err := p.tree(root, span{}, depth+1)
		return err
	}
	b = b[boltBucketHead:]
	if len(b) < boltPageHead || binary.LittleEndian.Uint16(b[8:]) != boltLeaf || depth >= boltDepth {
		return p.damaged(body.id, "a bucket's head is damaged")
	}
	inline := &pageBody{
		id: body.id, elements: int64(binary.LittleEndian.Uint16(b[10:])),
		bytes: io.NewSectionReader(bytes.NewReader(b[boltPageHead:]), 0, int64(len(b)-boltPageHead)),
	}
	if inline.elements*boltElement > inline.bytes.Size() {
		return p.damaged(body.id, "a bucket's head is damaged")
	}
	_, err = p.leaf(inline, span{}, boltDepth) // holds no further bucket
	return err
}

// freeList checks the list of pages that are not in use: one that is, would be
// written over.
func (p *boltPages) freeList() error {
	id := p.free
	var head [boltPageHead + 8]byte
	if id < 2 || id >= p.count || p.seen[id] {
		return p.damaged(id, "is not the free list")
	}
	if _, err := p.file.ReadAt(head[:], int64(id)*p.page); err != nil {
		return fmt.Errorf("page %d at offset %d: %w", id, int64(id)*p.page, err)
	}
	from, count := int64(boltPageHead), uint64(binary.LittleEndian.Uint16(head[10:]))
	if count == 0xFFFF {
		from, count = from+8, binary.LittleEndian.Uint64(head[boltPageHead:])
	}
	overflow := uint64(binary.LittleEndian.Uint32(head[12:]))
	if binary.LittleEndian.Uint64(head[:]) != id || binary.LittleEndian.Uint16(head[8:]) != boltFree ||
		overflow >= p.count-id || count > (overflow+1)*uint64(p.page)/8 {
		return p.damaged(id, "its head is damaged")
	}
	list := make([]byte, 8*count)
	if _, err := p.file.ReadAt(list, int64(id)*p.page+from); err != nil {
		return fmt.Errorf("page %d at offset %d: %w", id, int64(id)*p.page, err)
	}
	for ; len(list) > 0; list = list[8:] {
		free := binary.LittleEndian.Uint64(list)
		if free < 2 || free >= p.count || p.seen[free] {
			return p.damaged(id, fmt.Sprintf("page %d is not free, or twice", free))
		}
		p.seen[free] = true
	}
	return nil
}
