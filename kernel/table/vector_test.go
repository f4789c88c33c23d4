package table

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A published copy never changes, whatever the writer does afterwards, and the
// writer always sees what a plain slice would show.
func TestVectorAgainstSlices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type copied struct {
			v    Vector[int]
			want []int
		}
		var v Vector[int]
		var naive []int
		var published []copied
		same := func(v *Vector[int], want []int) {
			require.Equal(t, uint32(len(want)), v.Len())
			for i, n := range want {
				require.Equal(t, n, *v.Get(uint32(i + 1)))
			}
			require.Nil(t, v.Get(0))
			require.Nil(t, v.Get(v.Len()+1))
		}
		for range rapid.IntRange(1, 60).Draw(t, "operations") {
			switch rapid.IntRange(0, 2).Draw(t, "operation") {
			case 0:
				for range rapid.IntRange(1, 300).Draw(t, "rows") {
					no, row := v.Append()
					*row = int(no) * 7
					naive = append(naive, int(no)*7)
				}
			case 1:
				if len(naive) > 0 {
					no := rapid.IntRange(1, len(naive)).Draw(t, "row")
					*v.Edit(uint32(no))++
					naive[no-1]++
				}
			case 2:
				published = append(published, copied{v.Publish(), append([]int(nil), naive...)})
			}
		}
		same(&v, naive)
		for i := range published {
			same(&published[i].v, published[i].want)
		}
	})
}

func TestVectorRefusesMisuse(t *testing.T) {
	var v Vector[int]
	v.Append()
	frozen := v.Publish()
	require.Panics(t, func() { frozen.Edit(1) })
	require.Panics(t, func() { frozen.Append() })
	require.Panics(t, func() { v.Edit(2) })
	require.Panics(t, func() { v.Edit(0) })
}

// A part of a vector is numbered as the whole is.
func TestVectorBeginning(t *testing.T) {
	v := Beginning[int](70_000)
	for want := uint32(70_000); want < 70_300; want++ {
		no, row := v.Append()
		require.Equal(t, want, no)
		*row = int(no)
	}
	require.Equal(t, uint32(300), v.Len())
	before := v.Publish()
	*v.Edit(70_299) = 1
	require.Equal(t, 70_299, *before.Get(70_299))
	require.Equal(t, 1, *v.Get(70_299))
	for _, no := range []uint32{0, 1, 300, 69_999, 70_300, 1<<32 - 1} {
		require.Nil(t, v.Get(no), no)
		require.Panics(t, func() { v.Edit(no) }, no)
	}
}

// Rows of 400 bytes, 100,000 of them, one random row per publication: the cost
// of one command's write at full population.
func BenchmarkVectorEditAndPublish(b *testing.B) {
	var v Vector[[400]byte]
	for range 100_000 {
		v.Append()
	}
	b.ReportAllocs()
	no := uint32(1)
	for b.Loop() {
		no = no*1664525 + 1013904223
		v.Edit(no%100_000 + 1)[0]++
		_ = v.Publish()
	}
}
