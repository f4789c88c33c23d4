package replay_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/replay"
)

func replayedLog(log *kerneltest.Placed, s *kerneltest.Sim) (*replay.Log, error) {
	l := replay.NewLog("default", s.Lookup)
	for _, at := range log.Order {
		b, gone := kerneltest.Fleeting(log.Blocks[at])
		err := l.Block(b)
		if gone(); err != nil {
			return l, err
		}
	}
	return l, nil
}

// LO-4, INV-15: the events of a whole log, quarantined ones too, give its blocks
// and its state again. Change any record, and it is named.
func TestLogIsReplayed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := kerneltest.NewHistory(t, 1, 10, drawn{t})
		h.Run(rapid.IntRange(5, 40).Draw(t, "steps"))
		log := h.Placed()
		l, err := replayedLog(log, h.Sim)
		require.NoError(t, err)
		require.EqualValues(t, len(h.Blocks), l.Blocks())
		require.Equal(t, kernel.Digest(h.State()), kernel.Digest(l.Kernel().Publish()))

		all := h.All()
		which := rapid.IntRange(0, len(all)-1).Draw(t, "which")
		r := all[which]
		if bus.Kind(r.Kind) == bus.Event {
			return // another event is another history
		}
		what := rapid.SampledFrom([]string{"header of a record", "body of a record", "number of records"}).Draw(t, "what")
		_, err = replayedLog(tampered(t, log, r.Seq, func(r logging.Record) []logging.Record {
			switch what {
			case "header of a record":
				r.Step++
			case "body of a record":
				r.Body = append(append([]byte(nil), r.Body...), 1)
			default:
				return []logging.Record{r, r}
			}
			return []logging.Record{r}
		}), h.Sim)
		var d *replay.Deviation
		require.ErrorAs(t, err, &d)
		if what != "number of records" {
			require.Equal(t, r.Seq, d.Seq)
			require.Equal(t, string(r.Body), string(d.Replayed.Body))
		} else {
			require.Equal(t, afterRepeats(all, which), d.Seq)
		}
	})
}

// afterRepeats is the place of the first record that shows that all[which] is there
// once too often: whatever says the same and follows at once hides it.
func afterRepeats(all []kerneltest.Record, which int) uint64 {
	next := which + 1
	for next < len(all) && all[next].Header == all[which].Header && bytes.Equal(all[next].Body, all[which].Body) {
		next++
	}
	return all[which].Seq + uint64(next-which)
}

// What holds no event that could be applied is no deviation.
func TestLogsThatCannotBeReplayed(t *testing.T) {
	s := story(t)
	log := s.Placed()
	unreadable := func(r logging.Record) []logging.Record {
		r.Body = []byte{0xff}
		return []logging.Record{r}
	}
	another := func(r logging.Record) []logging.Record {
		r.Kind = uint16(bus.Outcome)
		return []logging.Record{r}
	}
	for name, log := range map[string]*kerneltest.Placed{
		"no beginning":                   {Order: log.Order[1:], Blocks: log.Blocks},
		"an event that does not decode":  tampered(t, log, first(t, s, bus.Event, 1), unreadable),
		"a block that begins with other": tampered(t, log, first(t, s, bus.Event, 1), another),
	} {
		_, err := replayedLog(log, s)
		require.ErrorIs(t, err, replay.ErrLog, name)
		var d *replay.Deviation
		require.False(t, errors.As(err, &d), name)
	}
}

// A log goes on from a restored kernel as well as from the first block.
func TestLogResumes(t *testing.T) {
	s := story(t)
	log := s.Placed()
	half := len(log.Order) / 2
	l := replay.NewLog("default", registry.Lookup)
	for _, at := range log.Order[:half] {
		require.NoError(t, l.Block(log.Blocks[at]))
	}
	resumed := replay.Resume(kerneltest.Restore(t, l.Kernel().Publish(), registry.Lookup))
	for _, at := range log.Order[half:] {
		require.NoError(t, resumed.Block(log.Blocks[at]))
	}
	assert.EqualValues(t, len(log.Order)-half, resumed.Blocks())
}
