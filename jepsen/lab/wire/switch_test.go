package wire_test

import (
	"encoding/binary"
	"io"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/lab/wire"
)

// card is a host's end in memory.
type card struct {
	mac    [6]byte
	sends  chan []byte
	closed chan struct{}
	close  func()

	mu  sync.Mutex // guards got
	got []arrival
}

type arrival struct {
	number uint32
	at     time.Time
}

func newCard(last byte) *card {
	c := &card{mac: [6]byte{2, 5: last}, sends: make(chan []byte), closed: make(chan struct{})}
	c.close = sync.OnceFunc(func() { close(c.closed) })
	return c
}

func (c *card) Read(frame []byte) (int, error) {
	select {
	case sent := <-c.sends:
		return copy(frame, sent), nil
	case <-c.closed:
		return 0, os.ErrClosed
	}
}

func (c *card) Write(frame []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got, arrival{binary.BigEndian.Uint32(frame[14:]), time.Now()})
	return len(frame), nil
}

func (c *card) Close() error { c.close(); return nil }

var _ io.ReadWriteCloser = (*card)(nil)

// send sends a numbered frame of so many bytes.
func (c *card) send(to [6]byte, number uint32, size int) {
	frame := make([]byte, size)
	copy(frame, to[:])
	copy(frame[6:], c.mac[:])
	binary.BigEndian.PutUint32(frame[14:], number)
	c.sends <- frame
}

func (c *card) numbers() (numbers []uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.got {
		numbers = append(numbers, a.number)
	}
	return numbers
}

// three hosts on a switch.
func three(t *testing.T, seed uint64) (s *wire.Switch, a, b, c *card) {
	a, b, c = newCard(1), newCard(2), newCard(3)
	s, err := wire.New(seed, []wire.Host{{ID: "a", MAC: a.mac, Frames: a}, {ID: "b", MAC: b.mac, Frames: b}, {ID: "c", MAC: c.mac, Frames: c}})
	require.NoError(t, err)
	return s, a, b, c
}

// A frame goes to whom it is addressed to, or to everybody else.
func TestAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a, b, c := three(t, 1)
		a.send(b.mac, 1, 60)
		a.send([6]byte{255, 255, 255, 255, 255, 255}, 2, 60)
		a.send([6]byte{2, 9, 9, 9, 9, 9}, 3, 60) // nobody's
		c.send(c.mac, 4, 60)                     // its own
		synctest.Wait()
		require.Empty(t, a.numbers())
		require.Equal(t, []uint32{1, 2}, b.numbers())
		require.Equal(t, []uint32{2}, c.numbers())
		require.NoError(t, s.Close())
		require.NoError(t, s.Close(), "a second time it does nothing")
	})
}

// A cut has a direction, begins and ends at once, and takes what is under way.
func TestCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a, b, _ := three(t, 1)
		defer s.Close()
		slow, err := s.Impose(wire.Rules{{From: "a", To: "b"}: {Delay: time.Second}})
		require.NoError(t, err)
		a.send(b.mac, 1, 60)
		synctest.Wait()
		cut, err := s.Impose(wire.Links{{From: "a", To: "b"}}.Cut())
		require.NoError(t, err)
		a.send(b.mac, 2, 60)
		b.send(a.mac, 3, 60)
		time.Sleep(2 * time.Second) // virtual
		require.Empty(t, b.numbers())
		require.Equal(t, []uint32{3}, a.numbers(), "the way back")
		cut.Lift()
		cut.Lift()
		a.send(b.mac, 4, 60)
		synctest.Wait()
		require.Empty(t, b.numbers(), "the delay is still in force")
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, []uint32{4}, b.numbers())
		slow.Lift()
		a.send(b.mac, 5, 60)
		synctest.Wait()
		require.Equal(t, []uint32{4, 5}, b.numbers())
		require.Equal(t, wire.Counts{Sent: 4, Delivered: 2, Bytes: 120, Cut: 2}, s.Counts()[wire.Link{From: "a", To: "b"}])
	})
}

// Delay and jitter keep the order, and add what they say.
func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a, b, _ := three(t, 1)
		defer s.Close()
		_, err := s.Impose(wire.Rules{{From: "a", To: "b"}: {Delay: 50 * time.Millisecond, Jitter: 100 * time.Millisecond}})
		require.NoError(t, err)
		var sent []time.Time
		for n := range uint32(200) {
			sent = append(sent, time.Now())
			a.send(b.mac, n, 60)
			synctest.Wait()
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		require.Len(t, b.got, 200)
		var most time.Duration
		for n, arrived := range b.got {
			require.EqualValues(t, n, arrived.number)
			took := arrived.at.Sub(sent[n])
			require.GreaterOrEqual(t, took, 50*time.Millisecond)
			require.LessOrEqual(t, took, 150*time.Millisecond)
			most = max(most, took)
		}
		require.Greater(t, most, 100*time.Millisecond, "there is jitter")

		long, err := s.Impose(wire.Rules{{From: "a", To: "b"}: {Delay: 30 * time.Second}})
		require.NoError(t, err)
		a.send(b.mac, 200, 60)
		synctest.Wait()
		long.Lift()
		a.send(b.mac, 201, 60)
		time.Sleep(time.Second)
		synctest.Wait()
		require.EqualValues(t, 201, b.numbers()[200], "other rules, another queue")
	})
}

// A slow link takes its time for each frame, has room for a second, and drops the
// rest; when it is lifted, what comes after is not slow.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, a, b, _ := three(t, 1)
		defer s.Close()
		slow, err := s.Impose(wire.Rules{{From: "a", To: "b"}: {BytesPerSecond: 10_000}})
		require.NoError(t, err)
		began := time.Now()
		for n := range uint32(30) {
			a.send(b.mac, n, 1000)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		counts := s.Counts()[wire.Link{From: "a", To: "b"}]
		require.EqualValues(t, 11, counts.Delivered, "those of a second, and one that is on the way")
		require.EqualValues(t, 19, counts.Overflowed)
		for n, arrived := range b.got {
			require.Equal(t, time.Duration(n+1)*100*time.Millisecond, arrived.at.Sub(began))
		}
		a.send(b.mac, 99, 1000)
		synctest.Wait()
		slow.Lift()
		a.send(b.mac, 100, 1000)
		synctest.Wait()
		require.EqualValues(t, 100, b.numbers()[11], "at once")
	})
}

// Loss, duplicates and another order come as often as they should, and the same
// again for the same seed.
func TestChance(t *testing.T) {
	run := func(seed uint64) (numbers []uint32, counts wire.Counts) {
		synctest.Test(t, func(t *testing.T) {
			s, a, b, _ := three(t, seed)
			defer s.Close()
			_, err := s.Impose(wire.Rules{{From: "a", To: "b"}: {Loss: 0.2, Duplicate: 0.1, Reorder: 0.3}})
			require.NoError(t, err)
			for n := range uint32(10_000) {
				a.send(b.mac, n, 60)
				synctest.Wait()
				time.Sleep(time.Millisecond)
			}
			time.Sleep(time.Second)
			synctest.Wait()
			numbers, counts = b.numbers(), s.Counts()[wire.Link{From: "a", To: "b"}]
		})
		return numbers, counts
	}
	numbers, counts := run(7)
	again, _ := run(7)
	require.Equal(t, numbers, again)
	other, _ := run(8)
	require.NotEqual(t, numbers, other)
	require.InDelta(t, 2000, counts.Lost, 200)
	require.InDelta(t, 800, counts.Duplicated, 120)
	require.InDelta(t, 8800*0.3, counts.Reordered, 300)
	require.EqualValues(t, counts.Sent-counts.Lost+counts.Duplicated, counts.Delivered)
	var behind int
	var highest uint32
	for _, n := range numbers {
		if n < highest {
			behind++
		}
		highest = max(highest, n)
	}
	require.Greater(t, behind, 1000, "many are overtaken")
}

// What makes no sense is refused.
func TestRefused(t *testing.T) {
	s, a, _, _ := three(t, 1)
	defer s.Close()
	for _, rules := range []wire.Rules{
		{{From: "a", To: "a"}: {Cut: true}},
		{{From: "a", To: "x"}: {Cut: true}},
		{{From: "a", To: "b"}: {Loss: 1.1}},
		{{From: "a", To: "b"}: {Reorder: -0.1}},
		{{From: "a", To: "b"}: {Delay: -1}},
		{{From: "a", To: "b"}: {Jitter: time.Hour}},
		{{From: "a", To: "b"}: {BytesPerSecond: -1}},
	} {
		_, err := s.Impose(rules)
		require.Error(t, err, "%v", rules)
	}
	_, err := wire.New(1, []wire.Host{{ID: "a", MAC: a.mac, Frames: a}, {ID: "b", MAC: a.mac, Frames: a}})
	require.Error(t, err, "one address twice")
}

// A frame costs no allocation, waiting or not.
func TestAllocations(t *testing.T) {
	s, a, b, _ := three(t, 1)
	defer s.Close()
	b.got = make([]arrival, 0, 100_000)
	frame := make([]byte, 1000)
	copy(frame, b.mac[:])
	for _, p := range []wire.Policy{{}, {Loss: 0.5, Duplicate: 0.1}, {Delay: time.Microsecond}} {
		imposed, err := s.Impose(wire.Rules{{From: "a", To: "b"}: p})
		require.NoError(t, err)
		require.Less(t, testing.AllocsPerRun(5000, func() { a.sends <- frame }), 1.0, "%+v", p)
		imposed.Lift()
	}
}
