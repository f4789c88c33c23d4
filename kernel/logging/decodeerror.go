package logging

import "strconv"

// Reason says what is wrong with the bytes of a block.
type Reason uint8

// The reasons. Truncated alone may be cured by more bytes.
const (
	Truncated     Reason = iota + 1 // the bytes end before the block's length
	BadLength                       // the length is impossible, or bytes follow the block
	BadChecksum                     // the checksum does not match
	UnknownFormat                   // the format byte is not one this version reads
	BadHeader                       // a fixed field has a value it cannot have
	BadRecord                       // a record is malformed, or the count is wrong
	BadTouched                      // the touched list is malformed, or misses an agent
)

var reasonTexts = [...]string{
	"", "truncated", "impossible length", "checksum mismatch", "unknown format",
	"malformed header", "malformed record", "malformed touched list",
}

// String is the reason in words.
func (r Reason) String() string {
	if int(r) < len(reasonTexts) {
		return reasonTexts[r]
	}
	return "unknown reason"
}

// DecodeError says why bytes are not a block. Offset is where in the block, in
// bytes from its start.
type DecodeError struct {
	Reason Reason
	Offset uint32
}

// Error implements error.
func (e *DecodeError) Error() string {
	return "block: " + e.Reason.String() + " at offset " + strconv.FormatUint(uint64(e.Offset), 10)
}

func malformed(reason Reason, offset int) *DecodeError {
	return &DecodeError{Reason: reason, Offset: uint32(offset)}
}
