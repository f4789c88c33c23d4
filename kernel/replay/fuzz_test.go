package replay_test

import (
	"testing"

	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/replay"
)

// Whatever a record is made to say, replaying ends in an answer: nothing that
// comes from a file stops the reader.
func FuzzReplay(f *testing.F) {
	s := story(f)
	for _, r := range s.All() {
		f.Add(uint16(r.Seq), r.Kind, r.Agent, r.Tick, r.Body, byte(0))
	}
	log := s.Placed()
	f.Fuzz(func(t *testing.T, seq, kind uint16, agent uint32, tick uint64, body []byte, how byte) {
		edit := func(r logging.Record) []logging.Record {
			other := r
			other.Kind, other.Agent, other.Tick, other.Body = kind, agent, tick, body
			switch how % 4 {
			case 0:
				return []logging.Record{other}
			case 1:
				return []logging.Record{r, other}
			case 2:
				return []logging.Record{other, r}
			}
			return nil
		}
		for _, b := range log.Blocks {
			_, touched := b.Previous(agent)
			if within := b.FirstSeq <= uint64(seq) && uint64(seq) <= b.LastSeq(); within && (agent != 0 && !touched || b.Count == 1) {
				return // no block has a record of an agent that it does not touch, or no record
			}
		}
		changed := tampered(t, log, uint64(seq), edit)
		_, _ = replayed(changed, s, 1, replay.Range{})
		_, _ = replayedLog(changed, s)
	})
}
