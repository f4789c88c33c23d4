package script

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.starlark.net/starlark"
	"pgregory.net/rapid"
)

// A dict is a map that remembers the order of first assignment, however many
// entries come and go.
func TestDicts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, model, order := newDict(rapid.SampledFrom([]int{0, 5, 20}).Draw(t, "room")), map[int]int{}, []int(nil)
		for i := range rapid.IntRange(0, 200).Draw(t, "length") {
			n := rapid.IntRange(0, 40).Draw(t, "key")
			k, ok := keyOf(starlark.MakeInt(n))
			require.True(t, ok)
			if rapid.Bool().Draw(t, "remove") {
				v, found := d.remove(k)
				was, has := model[n]
				require.Equal(t, has, found)
				if has {
					require.Equal(t, starlark.MakeInt(was), v)
					delete(model, n)
					for at := range order {
						if order[at] == n {
							order = append(order[:at:at], order[at+1:]...)
							break
						}
					}
				}
				continue
			}
			if _, has := model[n]; !has {
				order = append(order, n)
			}
			d.set(k, starlark.MakeInt(n), starlark.MakeInt(i))
			model[n] = i
		}
		require.Equal(t, len(order), d.Len())
		items := d.Items()
		require.Len(t, items, len(order))
		for i, n := range order {
			require.Equal(t, starlark.Tuple{starlark.MakeInt(n), starlark.MakeInt(model[n])}, items[i])
		}
	})
}

// Tuples of different parts are different keys.
func TestKeys(t *testing.T) {
	seen := map[key]string{}
	for _, v := range []starlark.Value{
		starlark.MakeInt(1), starlark.True, starlark.String("1"), starlark.Tuple{starlark.MakeInt(1)}, starlark.Tuple{starlark.True},
		starlark.Tuple{starlark.String("1")}, starlark.Tuple{starlark.String("a"), starlark.String("b")}, starlark.Tuple{starlark.String("ab"), starlark.String("")},
		starlark.Tuple{}, starlark.String(""), starlark.MakeInt(0), starlark.False, starlark.Tuple{starlark.MakeInt(1), starlark.MakeInt(1)},
	} {
		k, ok := keyOf(v)
		require.True(t, ok)
		require.Empty(t, seen[k])
		seen[k] = v.String()
	}
	for _, v := range []starlark.Value{
		starlark.None, starlark.Float(1.5), starlark.NewList(nil), starlark.Tuple{starlark.Tuple{}}, starlark.Tuple{starlark.None},
		starlark.MakeInt(1).Mul(starlark.MakeInt(1 << 30)).Mul(starlark.MakeInt(1 << 30)).Mul(starlark.MakeInt(1 << 30)), newDict(0), make(starlark.Tuple, 17),
	} {
		_, ok := keyOf(v)
		require.False(t, ok, v.String())
	}
}
