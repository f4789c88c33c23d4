package nodejournal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/omnikernel/omnikernel/cluster/nodestate"
)

// maxLine bounds a line: an entry's texts are bounded, and escaping makes them
// six times as long at most.
const maxLine = 32 << 10

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumField stands at the end of a line, before the checksum's eight digits.
const sumField = `,"sum":"`

const sumBytes = len(sumField) + 8 + len(`"}`)

// What may be wrong with a line.
var (
	errForm = errors.New("it does not have the form of one")
	errSum  = errors.New("its checksum does not fit")
	errLong = errors.New("it is longer than a line may be")
)

// seal appends a JSON object as a line with its checksum, newline included.
func seal(b, object []byte) []byte {
	object = object[:len(object)-1] // without its brace
	return fmt.Appendf(b, "%s%s%08x\"}\n", object, sumField, crc32.Checksum(object, castagnoli))
}

// unseal checks a line, with or without its newline, and gives the object back.
func unseal(line []byte) ([]byte, error) {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	if len(line) < sumBytes {
		return nil, errForm
	}
	object, end := line[:len(line)-sumBytes], line[len(line)-sumBytes:]
	if !bytes.HasPrefix(end, []byte(sumField)) || !bytes.HasSuffix(end, []byte(`"}`)) {
		return nil, errForm
	}
	if string(end[len(sumField):len(sumField)+8]) != fmt.Sprintf("%08x", crc32.Checksum(object, castagnoli)) {
		return nil, errSum
	}
	return append(bytes.Clone(object), '}'), nil
}

// appendLine writes an entry as a line.
func appendLine(b []byte, e *nodestate.Entry) ([]byte, error) {
	raw, err := json.Marshal(e)
	if err != nil {
		return b, fmt.Errorf("encode entry %d: %w", e.Seq, err)
	}
	return seal(b, raw), nil
}

// parseLine reads a line, without its newline.
func parseLine(line []byte) (e nodestate.Entry, err error) {
	if len(line) > maxLine {
		return e, errLong
	}
	raw, err := unseal(line)
	if err != nil {
		return e, err
	}
	if json.Unmarshal(raw, &e) != nil || e.Seq == 0 {
		return nodestate.Entry{}, errForm
	}
	return e, nil
}
