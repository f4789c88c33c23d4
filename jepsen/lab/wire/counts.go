package wire

import "sync/atomic"

// Counts is what happened to the frames of one link.
type Counts struct {
	Sent       int64 // by the host
	Delivered  int64 // copies included
	Bytes      int64 // of what was delivered
	Cut        int64 // lost because the link was cut
	Lost       int64 // by chance
	Overflowed int64 // too many were waiting
	Failed     int64 // the other host's device refused it
	Duplicated int64
	Reordered  int64 // held back
}

type counters struct {
	sent, delivered, bytes, cut, lost, overflowed, failed, duplicated, reordered atomic.Int64
}

func (c *counters) read() Counts {
	return Counts{
		Sent: c.sent.Load(), Delivered: c.delivered.Load(), Bytes: c.bytes.Load(), Cut: c.cut.Load(), Lost: c.lost.Load(),
		Overflowed: c.overflowed.Load(), Failed: c.failed.Load(), Duplicated: c.duplicated.Load(), Reordered: c.reordered.Load(),
	}
}

// Counts is what happened so far to the frames of each link that had any.
func (s *Switch) Counts() map[Link]Counts {
	counts := make(map[Link]Counts)
	for _, p := range s.ports {
		for _, l := range p.links {
			if c := l.counters.read(); c.Sent > 0 {
				counts[Link{p.id, l.to.id}] = c
			}
		}
	}
	return counts
}
