package table

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type key uint16

func (k key) Compare(other key) int { return cmp.Compare(k, other) }

type row struct {
	key   key
	value int
}

func rowsOf(s *Sorted[key, int]) []row {
	var rows []row
	s.All(func(k key, v int) bool {
		rows = append(rows, row{k, v})
		return true
	})
	return rows
}

func rowsFrom(s *Sorted[key, int], from key, most int) []row {
	var rows []row
	s.From(from, func(k key, v int) bool {
		rows = append(rows, row{k, v})
		return len(rows) < most
	})
	return rows
}

// model is what a table must look like: a plain map, sorted when looked at.
type model map[key]int

func (m model) rows() []row {
	rows := make([]row, 0, len(m))
	for k, v := range m {
		rows = append(rows, row{k, v})
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.key, b.key) })
	return rows
}

// check compares everything that can be read from a table.
func (m model) check(t require.TestingT, s *Sorted[key, int], probe key) {
	rows := m.rows()
	require.Equal(t, len(rows), s.Len())
	require.Equal(t, append([]row(nil), rows...), rowsOf(s))
	first, value, ok := s.First()
	require.Equal(t, len(rows) > 0, ok)
	if ok {
		require.Equal(t, rows[0], row{first, value})
	}
	value, ok = s.Get(probe)
	want, there := m[probe]
	require.Equal(t, there, ok)
	require.Equal(t, want, value)
	at, _ := slices.BinarySearchFunc(rows, probe, func(r row, k key) int { return cmp.Compare(r.key, k) })
	require.Equal(t, append([]row(nil), rows[at:min(at+7, len(rows))]...), rowsFrom(s, probe, 7))
}

// shape checks what the tree promises itself: equal depth, no empty node, no
// key on the wrong side of a separator, and nothing left behind that is gone.
func shape(t require.TestingT, c child[key, int], above, below key, root bool) (depth int) {
	if c.leaf != nil {
		for i, k := range c.leaf.keys[:c.leaf.count] {
			require.True(t, above <= k && k <= below)
			require.NotZero(t, c.leaf.rows[i])
		}
		for i := c.leaf.count; i < fanOut; i++ {
			require.Zero(t, c.leaf.rows[i])
		}
		return 1
	}
	b := c.branch
	require.True(t, b.count >= 2 || !root && b.count == 1)
	for i := range b.count {
		require.NotZero(t, b.kids[i].count())
		low, high := above, below
		if i > 0 {
			low = b.keys[i]
		}
		if i+1 < b.count {
			high = b.keys[i+1] - 1
		}
		under := shape(t, b.kids[i], low, high, false)
		require.True(t, depth == 0 || depth == under)
		depth = under
		if i > 0 && b.kids[i].count() <= sparse {
			require.True(t, b.kids[i].count()+b.kids[i-1].count() > sparse, "two sparse neighbours were not joined")
		}
	}
	for i := b.count; i < fanOut; i++ {
		require.Equal(t, child[key, int]{}, b.kids[i])
	}
	return depth + 1
}

// The writer sees what a plain map would show, and a published copy never
// changes, whatever the writer does afterwards.
func TestSortedAgainstMaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type copied struct {
			s    Sorted[key, int]
			want model
		}
		var s Sorted[key, int]
		naive := model{}
		var published []copied
		keys := rapid.Uint16Range(1, rapid.SampledFrom([]uint16{20, 300, 60_000}).Draw(t, "keys"))
		next := key(1)
		set := func(k key) {
			value := len(naive)*3 + 1
			s.Set(k, value)
			naive[k] = value
		}
		for range rapid.IntRange(1, 40).Draw(t, "operations") {
			n := rapid.IntRange(1, 200).Draw(t, "n")
			switch rapid.IntRange(0, 4).Draw(t, "operation") {
			case 0: // random keys
				for range n {
					set(key(keys.Draw(t, "key")))
				}
			case 1: // keys that grow, as numbers given do
				for range n {
					set(next)
					next++
				}
			case 2: // the smallest first, as queues and timers go
				for range n {
					k, _, ok := s.First()
					require.Equal(t, ok, s.Delete(k))
					delete(naive, k)
				}
			case 3: // random ones, there or not
				for range n {
					k := key(keys.Draw(t, "key"))
					_, there := naive[k]
					require.Equal(t, there, s.Delete(k))
					delete(naive, k)
				}
			case 4:
				published = append(published, copied{s.Publish(), maps.Clone(naive)})
			}
			naive.check(t, &s, key(keys.Draw(t, "probe")))
			if len(naive) > 0 {
				shape(t, s.root, 0, 65_535, true)
			}
		}
		for i := range published {
			published[i].want.check(t, &published[i].s, next)
		}
	})
}

// Growing and shrinking for long, three levels deep: branches are split, emptied
// and joined again, which short histories hardly reach.
func TestSortedForLong(t *testing.T) {
	var s Sorted[key, int]
	naive := model{}
	state := uint32(1)
	next := func(n uint32) uint32 {
		state = state*1664525 + 1013904223
		return (state >> 8) % n
	}
	for round := range 300 {
		growing := round%2 == 0
		low := key(next(1_500)) // a stretch of its own each time
		for range 400 {
			k := low + key(next(500))
			if growing == (next(4) > 0) {
				s.Set(k, round+1)
				naive[k] = round + 1
			} else {
				s.Delete(k)
				delete(naive, k)
			}
		}
		naive.check(t, &s, low)
		if len(naive) > 0 {
			shape(t, s.root, 0, 65_535, true)
		}
	}
}

func TestSortedRefusesMisuse(t *testing.T) {
	var s Sorted[key, int]
	s.Set(1, 1)
	frozen := s.Publish()
	require.Panics(t, func() { frozen.Set(2, 2) })
	require.Panics(t, func() { frozen.Delete(1) })
	require.Equal(t, []row{{1, 1}}, rowsOf(&frozen))
}

// Growing keys fill their leaves; emptied ones leave nothing behind.
func TestSortedIsDense(t *testing.T) {
	var s Sorted[key, int]
	const full = fanOut * fanOut * fanOut
	for k := key(1); k <= full; k++ {
		s.Set(k, 1)
	}
	require.Equal(t, fanOut, s.root.branch.count)
	require.Equal(t, fanOut, s.root.branch.kids[fanOut/2].branch.count)
	for k := key(full); k > 1; k-- {
		s.Delete(k)
	}
	require.Nil(t, s.root.branch)
	require.Equal(t, 1, s.root.leaf.count)
}

// What a write after a publication allocates: a node per level, and what is not
// written nothing.
func TestSortedAllocations(t *testing.T) {
	var s Sorted[key, int]
	const full = fanOut * fanOut * fanOut
	for k := key(1); k <= full; k++ {
		s.Set(k, 1)
	}
	var last Sorted[key, int]
	require.Zero(t, testing.AllocsPerRun(100, func() { last = s.Publish() }))
	require.EqualValues(t, 3, testing.AllocsPerRun(100, func() {
		s.Set(full/2, 2)
		last = s.Publish()
	}))
	require.Equal(t, full, last.Len())
}

type wide [16]byte

func (w wide) Compare(other wide) int { return slices.Compare(w[:], other[:]) }

// Identifiers of 16 bytes in random order, 100,000 of them, one new per
// publication.
func BenchmarkSortedSetAndPublish(b *testing.B) {
	var s Sorted[wide, uint32]
	no := uint32(1)
	next := func() wide {
		no = no*1664525 + 1013904223
		return wide{byte(no >> 24), byte(no >> 16), byte(no >> 8), byte(no)}
	}
	for range 100_000 {
		s.Set(next(), no)
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Set(next(), no)
		_ = s.Publish()
	}
}
