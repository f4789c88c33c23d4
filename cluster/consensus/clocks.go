package consensus

import (
	"context"
	"slices"
	"time"
)

// ClockReading is one voter's wall clock, as seen from here.
type ClockReading struct {
	Node   string
	Offset time.Duration // its wall clock minus ours, half the round trip allowed for
	RTT    time.Duration
}

// lateClock is how long a majority waits for the voters that have not answered
// yet: the more clocks, the better the median, but a node that is down must not
// hold a new leader up.
const lateClock = 20 * time.Millisecond

// Clocks asks every voter for its wall clock, ourselves included with offset 0
// (EV-7). It returns when all have answered, or shortly after a majority has.
// Fewer than a majority is NoQuorum.
func (g *Group) Clocks(ctx context.Context) ([]ClockReading, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*g.config.Timing.Heartbeat)
	defer cancel()
	voters := g.voters()
	type result struct {
		reading ClockReading
		err     error
	}
	results := make(chan result, len(voters))
	for _, v := range voters {
		if v.ID == g.config.NodeID {
			results <- result{reading: ClockReading{Node: v.ID}}
			continue
		}
		if !g.crew.start(func() {
			reading, err := g.readClock(ctx, v)
			results <- result{reading, err}
		}) {
			return nil, refusal(Shutdown, "this node is stopping")
		}
	}
	var out []ClockReading
	var enough <-chan time.Time
	for range voters {
		select {
		case r := <-results:
			if r.err == nil {
				out = append(out, r.reading)
			}
		case <-enough:
			return out, nil
		}
		if enough == nil && len(out) > len(voters)/2 {
			enough = time.After(lateClock)
		}
	}
	if len(out) < len(voters)/2+1 {
		return nil, refusal(NoQuorum, "%d of %d voters told their clocks", len(out), len(voters))
	}
	return out, nil
}

func (g *Group) readClock(ctx context.Context, voter Member) (ClockReading, error) {
	sent, began := g.config.Wall(), time.Now()
	state, err := g.askPeer(ctx, voter, g.askers.nonce.Add(1))
	if err != nil {
		return ClockReading{}, err
	}
	rtt := time.Since(began)
	theirs := time.Unix(0, state.wall)
	return ClockReading{Node: voter.ID, Offset: theirs.Sub(sent.Add(rtt / 2)), RTT: rtt}, nil
}

// MedianSkew is our clock minus the median of the readings, ours among them.
// Of an even number the two in the middle are averaged.
func MedianSkew(readings []ClockReading) time.Duration {
	if len(readings) == 0 {
		return 0
	}
	offsets := make([]time.Duration, len(readings))
	for i, r := range readings {
		offsets[i] = r.Offset
	}
	slices.Sort(offsets)
	middle := len(offsets) / 2
	median := offsets[middle]
	if len(offsets)%2 == 0 {
		median = (offsets[middle-1] + offsets[middle]) / 2
	}
	return -median
}
