package workers

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/tools"
)

var start = time.Now()

// at is a moment, in seconds of the test.
func at(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }

func key(call uint32) tools.Key { return tools.Key{Agent: 7, Tick: 3, Call: call} }

// call is one of revision 1 of the tool a, with leases of 10 s and 60 s in all.
func call(n uint32, changes ...func(*Call)) *Call {
	c := &Call{Key: key(n), Tool: "a", Revision: 1, Most: 100, Lease: 10 * time.Second, Until: at(60), Idempotent: true}
	for _, change := range changes {
		change(c)
	}
	return c
}

func once(c *Call) { c.Idempotent = false }

func opened() *Broker {
	b := New()
	b.Open(5)
	return b
}

func keys(leases []Lease) (found []uint32) {
	for _, l := range leases {
		found = append(found, l.Key.Call)
	}
	return found
}

// take takes calls and lends them.
func (b *Broker) take(t *testing.T, most, seconds int, names ...string) []Lease {
	t.Helper()
	taken := b.Take(names, "w", most, at(seconds))
	for _, l := range taken {
		_, ok := b.Lend(l, at(seconds))
		require.True(t, ok)
	}
	return taken
}

// TO-15: the oldest first, over all tools that are asked for; each to one worker.
func TestCallsAreLentInTurn(t *testing.T) {
	b := opened()
	b.Offer(call(1))
	b.Offer(call(2, func(c *Call) { c.Tool, c.Revision = "b", 2 }))
	b.Offer(call(3))
	b.Offer(call(3))
	b.Offer(call(4, func(c *Call) { c.Tool, c.Revision = "c", 3 }))
	assert.Equal(t, []uint32{1, 2, 3}, keys(b.take(t, 9, 0, "a", "b")))
	assert.Empty(t, b.Take([]string{"a", "b"}, "w", 9, at(0)))
	assert.Equal(t, []uint32{4}, keys(b.take(t, 9, 0, "c")))
}

// TO-15, TO-10: no more are lent at once than the manifest allows; the next goes when
// one is over.
func TestLentCallsAreBounded(t *testing.T) {
	b := opened()
	few := func(c *Call) { c.Most = 2 }
	for n := range uint32(4) {
		b.Offer(call(n+1, few))
	}
	lent := b.take(t, 9, 0, "a")
	assert.Equal(t, []uint32{1, 2}, keys(lent))
	p := b.Wait([]string{"a"})
	_, err := b.Close(lent[0], at(1))
	require.NoError(t, err)
	assert.Empty(t, b.Take([]string{"a"}, "w", 9, at(1)), "its result is not committed yet")
	b.Drop(lent[0].Key)
	<-p.C
	assert.Equal(t, []uint32{3}, keys(b.take(t, 9, 1, "a")))
}

// TO-15: a worker that was slow cannot complete what was given to another.
func TestStaleLease(t *testing.T) {
	b := opened()
	b.Offer(call(1))
	b.Offer(call(2))
	slow := b.take(t, 1, 0, "a")[0]
	lease, left, err := b.Extend(slow, at(8))
	require.NoError(t, err)
	assert.Equal(t, []time.Duration{10 * time.Second, 52 * time.Second}, []time.Duration{lease, left})
	assert.Empty(t, b.Expire(at(17)), "it was heard of")
	assert.Empty(t, b.Expire(at(18)))
	_, _, err = b.Extend(slow, at(18))
	require.ErrorIs(t, err, ErrLost)

	other := b.take(t, 1, 18, "a")[0]
	assert.Equal(t, slow.Key, other.Key, "it is as old as it was")
	assert.Greater(t, other.Fence, slow.Fence)
	_, err = b.Close(slow, at(19))
	require.ErrorIs(t, err, ErrLost)
	_, err = b.Close(other, at(19))
	require.NoError(t, err)
	_, err = b.Close(other, at(19))
	require.ErrorIs(t, err, ErrClosing)
	assert.Empty(t, b.Expire(at(40)), "it does not run out while its result is proposed")
	b.Reopen(other, at(40))
	_, err = b.Close(other, at(49))
	require.NoError(t, err)
}

// TO-15, TO-4: what is over needs the result that says how far it came.
func TestCallsEnd(t *testing.T) {
	b := opened()
	b.Offer(call(1, once))
	b.Offer(call(2, once))
	b.Offer(call(3))
	dispatched := b.take(t, 1, 0, "a")[0]
	over := b.Expire(at(10))
	require.Len(t, over, 1)
	assert.Equal(t, Over{Key: key(1), Tool: "a", Why: Silent, Lent: 10 * time.Second}, over[0])
	_, err := b.Close(dispatched, at(10))
	require.ErrorIs(t, err, ErrLost)

	require.Equal(t, []uint32{2}, keys(b.Take([]string{"a"}, "w", 1, at(10))))
	assert.Equal(t, []uint32{3}, keys(b.take(t, 1, 50, "a")))
	b.Return(Lease{key(2), 5<<fenceBits | 1}) // it was not dispatched after all
	byKey := make(map[uint32]Reason)
	for _, o := range b.Expire(at(60)) {
		byKey[o.Key.Call] = o.Why
	}
	assert.Equal(t, map[uint32]Reason{2: Unasked, 3: Unanswered}, byKey)
	assert.Empty(t, b.Expire(at(100)), "each is told of once")
	b.Forget(func(k tools.Key) bool { return k != key(1) })
	assert.False(t, b.Has(key(1)))
	assert.True(t, b.Has(key(2)))

	b.Offer(call(4, once))
	over = b.Expire(at(60))
	require.Len(t, over, 1)
	assert.Equal(t, Unasked, over[0].Why)
}

// TO-15, TO-4: a new leader takes what was dispatched from whoever shows the lease of
// that, and offers anew what may be made twice.
func TestLeasesOfAnEarlierLeader(t *testing.T) {
	old := opened()
	old.Offer(call(1, once))
	old.Offer(call(2))
	leases := old.take(t, 2, 0, "a")

	b := New()
	b.Open(9)
	b.Hold(call(1, once, func(c *Call) { c.Dispatched = 5 }), at(2))
	b.Offer(call(2))
	_, _, err := b.Extend(Lease{key(1), 4<<fenceBits | 1}, at(3))
	require.ErrorIs(t, err, ErrLost, "it is not that of the dispatch")
	_, _, err = b.Extend(leases[0], at(11))
	require.NoError(t, err)
	_, _, err = b.Extend(Lease{key(1), 5<<fenceBits | 2}, at(11))
	require.ErrorIs(t, err, ErrLost, "the first counts")
	_, err = b.Close(leases[1], at(11))
	require.ErrorIs(t, err, ErrLost)
	assert.Greater(t, b.take(t, 1, 11, "a")[0].Fence, leases[1].Fence)

	b.Hold(call(3, once, func(c *Call) { c.Dispatched = 5 }), at(11))
	over := b.Expire(at(21))
	require.Len(t, over, 2, "nobody said anything within a lease")
	assert.Equal(t, []Reason{Silent, Silent}, []Reason{over[0].Why, over[1].Why})
}

// TO-15: a poll that waits is woken by a call for it, and if it leaves, another is.
func TestPolls(t *testing.T) {
	b := opened()
	first, second := b.Wait([]string{"a", "b"}), b.Wait([]string{"a"})
	other := b.Wait([]string{"c"})
	b.Offer(call(1))
	assert.Equal(t, []int{1, 0, 0}, []int{len(first.C), len(second.C), len(other.C)})
	b.Leave(first)
	assert.Equal(t, []int{1, 0}, []int{len(second.C), len(other.C)})
	<-second.C
	b.Shut()
	assert.Equal(t, []int{1, 1}, []int{len(second.C), len(other.C)})
	assert.Empty(t, b.Take([]string{"a"}, "w", 1, at(0)), "the term is over")
	b.Leave(second)
	b.Leave(other)
	for range MaxPolls {
		require.NotNil(t, b.Wait([]string{"a"}))
	}
	require.Nil(t, b.Wait([]string{"a"}))
}

// TO-15: leases stay over an interruption within a term, and are gone with it; what was
// taken before is not lent after.
func TestTerms(t *testing.T) {
	b := opened()
	b.Offer(call(1))
	b.Offer(call(2))
	lease := b.take(t, 1, 0, "a")[0]
	taken := b.Take([]string{"a"}, "w", 1, at(0))[0]
	b.Shut()
	_, ok := b.Lend(taken, at(0))
	assert.False(t, ok)
	_, _, err := b.Extend(lease, at(1))
	require.ErrorIs(t, err, ErrLost)
	b.Open(5)
	_, _, err = b.Extend(lease, at(1))
	require.NoError(t, err)
	b.Shut()
	b.Open(6)
	assert.False(t, b.Has(key(1)))
	_, ok = b.Lend(taken, at(0))
	assert.False(t, ok)
	assert.Empty(t, b.Standings(10, at(0)))
}

func TestStandings(t *testing.T) {
	b := opened()
	for n := range uint32(3) {
		b.Offer(call(n + 1))
	}
	b.take(t, 2, 0, "a")
	b.Wait([]string{"b"})
	assert.Equal(t, []Standing{
		{Tool: "a", Waiting: 1, Lent: 2, Leases: []Held{{Lease{key(1), 5<<fenceBits | 1}, "w", 9 * time.Second}}},
		{Tool: "b", Polls: 1},
	}, b.Standings(1, at(1)))
}

// TO-15: a token is taken for the lease that it was made of, and nothing else is.
func TestTokens(t *testing.T) {
	seed := []byte("seed")
	l := Lease{key(1), 5<<fenceBits | 1}
	token := l.Token(seed)
	got, ok := ReadToken(token, seed)
	require.True(t, ok)
	assert.Equal(t, l, got)
	for i := range token {
		broken := []byte(token)
		broken[i]++
		_, ok := ReadToken(string(broken), seed)
		assert.False(t, ok, string(broken))
	}
	for _, none := range []string{"", "1", "....", token + ".", "0" + token, " " + token, Lease{key(1), 1}.Token([]byte("other"))} {
		_, ok := ReadToken(none, seed)
		assert.False(t, ok, none)
	}
}

// TO-15: calls that wait cost no goroutine, and little memory.
func TestWaitingCallsCostLittle(t *testing.T) {
	const calls = 10_000
	before := runtime.NumGoroutine()
	var was, is runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&was)
	b := opened()
	for n := range uint32(calls) {
		b.Offer(call(n + 1))
	}
	runtime.GC()
	runtime.ReadMemStats(&is)
	assert.LessOrEqual(t, runtime.NumGoroutine(), before)
	assert.Less(t, int64(is.HeapAlloc)-int64(was.HeapAlloc), int64(calls*1024))
	assert.Len(t, b.Take([]string{"a"}, "w", 100, at(0)), 100)
}
