package logging

import "math"

// Record is one record of a decoded block. Body aliases the block's bytes.
type Record struct {
	Header
	Seq  uint64 // its busSeq
	Body []byte
}

// Size is the bytes that the record takes in its block.
func (r *Record) Size() int {
	size := uvarintLen(uint64(r.Kind)) + uvarintLen(uint64(r.Agent)) + uvarintLen(r.Tick) + uvarintLen(uint64(r.Step)) + uvarintLen(uint64(r.Cause))
	return size + uvarintLen(uint64(len(r.Body))) + len(r.Body)
}

// Records iterates over the records of a block, in order:
//
//	for records := block.Records(); records.Next(); {
//		use(records.Record)
//	}
type Records struct {
	Record Record // the current one, after Next returned true

	rest []byte
	seq  uint64
	left uint32
}

// Next goes to the next record and tells whether there is one.
func (r *Records) Next() bool {
	if r.left == 0 {
		return false
	}
	h, body, size := readRecord(r.rest, math.MaxUint32)
	if size == 0 {
		return false // a Block that did not come from Decode
	}
	r.Record = Record{Header: h, Seq: r.seq, Body: body}
	r.rest = r.rest[size:]
	r.seq++
	r.left--
	return true
}

// readRecord reads one record from the front of b. maxCause bounds its cause.
// It returns the number of bytes read, 0 when the record is malformed.
func readRecord(b []byte, maxCause uint32) (h Header, body []byte, size int) {
	limits := [...]uint64{math.MaxUint16, math.MaxUint32, math.MaxUint64, math.MaxUint32, uint64(maxCause), MaxBlockBytes}
	var fields [len(limits)]uint64
	at := 0
	for i, limit := range limits {
		x, n := uvarint(b[at:], limit)
		if n == 0 {
			return Header{}, nil, 0
		}
		fields[i] = x
		at += n
	}
	length := int(fields[5]) // at most MaxBlockBytes: fits 32 bits
	if length > len(b)-at {
		return Header{}, nil, 0
	}
	h = Header{
		Kind:  uint16(fields[0]),
		Agent: uint32(fields[1]),
		Tick:  fields[2],
		Step:  uint32(fields[3]),
		Cause: uint32(fields[4]),
	}
	end := at + length
	return h, b[at:end:end], end
}
