package history

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// History is a run as it was recorded.
type History struct {
	Ops    []Op    // by ID: in the order of the calls
	Faults []Fault // by ID
	Sights []Sight // the rest in the order in which it was recorded
	Lives  []Life
	Seen   []Seen
	Hits   []Hit
	Phases []Phase
}

// maxLine bounds one line of the file.
const maxLine = 16 << 20

// Load reads what a Recorder wrote. A line that is not whole at the very end is
// left out, as an interrupted run leaves one; anything else that is no line of a
// history is an error with its number.
func Load(r io.Reader) (*History, error) {
	h := new(History)
	in := bufio.NewReaderSize(r, 256<<10)
	faults := make(map[int]int)
	for number := 1; ; number++ {
		text, err := readLine(in)
		if errors.Is(err, io.EOF) {
			h.order()
			return h, nil
		}
		if err == nil {
			err = h.add(text, faults)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d of the history: %w", number, err)
		}
	}
}

// readLine ends with io.EOF before a line that has no end.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, fmt.Errorf("it is longer than %d bytes", maxLine)
		case errors.Is(err, bufio.ErrBufferFull):
		default:
			return line, err
		}
	}
}

func (h *History) add(text []byte, faults map[int]int) error {
	var l Line
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return err
	}
	switch {
	case l.Op != nil:
		h.Ops = append(h.Ops, *l.Op)
	case l.Fault != nil:
		if at, known := faults[l.Fault.ID]; known {
			h.Faults[at] = *l.Fault
			break
		}
		faults[l.Fault.ID] = len(h.Faults)
		h.Faults = append(h.Faults, *l.Fault)
	case l.Sight != nil:
		h.Sights = append(h.Sights, *l.Sight)
	case l.Life != nil:
		h.Lives = append(h.Lives, *l.Life)
	case l.Seen != nil:
		h.Seen = append(h.Seen, *l.Seen)
	case l.Hit != nil:
		h.Hits = append(h.Hits, *l.Hit)
	case l.Phase != nil:
		h.Phases = append(h.Phases, *l.Phase)
	default:
		return errors.New("it says nothing")
	}
	return nil
}

func (h *History) order() {
	slices.SortFunc(h.Ops, func(a, b Op) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(h.Faults, func(a, b Fault) int { return cmp.Compare(a.ID, b.ID) })
}

// Of lists the operations of a workload, in the order of the calls.
func (h *History) Of(workload string) []Op {
	var ops []Op
	for i := range h.Ops {
		if h.Ops[i].Workload == workload {
			ops = append(ops, h.Ops[i])
		}
	}
	return ops
}

// Begins is when a phase began; false when it never did.
func (h *History) Begins(phase string) (int64, bool) {
	for _, p := range h.Phases {
		if p.Name == phase {
			return p.At, true
		}
	}
	return 0, false
}
