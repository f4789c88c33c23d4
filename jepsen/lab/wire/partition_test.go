package wire_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/lab/wire"
)

// picture shows which links a partition cuts: one line for each host that hears,
// and in it whom it hears.
func picture(hosts []string, cut wire.Links) string {
	var lines []string
	for _, to := range hosts {
		line := to + ":"
		for _, from := range hosts {
			if from != to && !slices.Contains(cut, wire.Link{From: from, To: to}) {
				line += " " + from
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestPartitions(t *testing.T) {
	three, five := []string{"a", "b", "c"}, []string{"a", "b", "c", "d", "e"}
	for _, c := range []struct {
		name  string
		hosts []string
		cut   wire.Links
		hears string
	}{
		{"all", three, wire.All(three), "a:\nb:\nc:"},
		{"isolate", three, wire.Isolate(three, "b"), "a: c\nb:\nc: a"},
		{"mute", three, wire.Mute(three, "b"), "a: c\nb: a c\nc: a"},
		{"deaf", three, wire.Deaf(three, "b"), "a: b c\nb:\nc: a b"},
		{"one way", three, wire.OneWay([]string{"a"}, []string{"a", "b"}), "a: b c\nb: c\nc: a b"},
		{"halves of three", three, wire.Halves(three), "a: b\nb: a\nc:"},
		{"halves of five", five, wire.Halves(five), "a: b c\nb: a c\nc: a b\nd: e\ne: d"},
		{"bridge of three", three, wire.Bridge(three), "a: b\nb: a c\nc: b"},
		{"bridge of five", five, wire.Bridge(five), "a: b c\nb: a c\nc: a b d e\nd: c e\ne: c d"},
		{"ring of three", three, wire.Ring(three), "a: c\nb: a\nc: b"},
		{"ring of five", five, wire.Ring(five), "a: b e\nb: a c\nc: b d\nd: c e\ne: a d"},
	} {
		require.Equal(t, c.hears, picture(c.hosts, c.cut), c.name)
		for _, policy := range c.cut.Cut() {
			require.True(t, policy.Cut)
		}
	}
}

// In a ring each host hears a majority, and no two the same.
func TestRing(t *testing.T) {
	for n := 3; n <= 9; n += 2 {
		var hosts []string
		for i := range n {
			hosts = append(hosts, fmt.Sprintf("n%d", i))
		}
		cut := wire.Ring(hosts)
		heard := map[string]bool{}
		for _, to := range hosts {
			var majority []string
			for _, from := range hosts {
				if from == to || !slices.Contains(cut, wire.Link{From: from, To: to}) {
					majority = append(majority, from)
				}
			}
			require.Len(t, majority, n/2+1)
			heard[strings.Join(majority, " ")] = true
		}
		require.Len(t, heard, n)
	}
}
