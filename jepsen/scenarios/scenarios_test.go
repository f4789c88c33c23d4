package scenarios_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/scenarios"
)

func TestAllAreGood(t *testing.T) {
	all, err := scenarios.All()
	require.NoError(t, err)
	require.NotEmpty(t, all)
}

const head = "name: x\nabout: y\nworkloads: {register: 1}\nrate: 10\n"

func TestDecoded(t *testing.T) {
	s, err := scenarios.Decode("x.yaml", []byte(head+"faults: 5s\nbetween: 1s-3s\nmix:\n- {kind: kill, nodes: leader, for: 250ms, weight: 2}\n"))
	require.NoError(t, err)
	require.True(t, s.Exploratory())
	require.Equal(t, 3, s.Nodes)
	require.Equal(t, scenarios.Span{Min: time.Second, Max: 3 * time.Second}, s.Between)
	require.Equal(t, scenarios.Span{Min: 250 * time.Millisecond, Max: 250 * time.Millisecond}, s.Mix[0].For)
}

// A scenario that says less or more than it must is refused, by field.
func TestRefused(t *testing.T) {
	for text, says := range map[string]string{
		"about: y": "name",
		"name: x":  "about",
		head:       "mix, steps",
		head + "steps:\n- {wait: 1s}\nfaults: 1s\nmix:\n- {kind: kill, for: 1s, weight: 1}": "mix, steps",
		head + "mix:\n- {kind: kill, for: 1s, weight: 1}":                                   "faults",
		head + "faults: 1s\nmix:\n- {kind: kill, for: 1s}":                                  "mix[0].weight",
		head + "faults: 1s\nmix:\n- {kind: kill, weight: 1}":                                "mix[0].for",
		head + "faults: 1s\nmix:\n- {for: 1s, weight: 1}":                                   "mix[0].kind",
		head + "faults: 1s\nmix:\n- {kind: kill, for: 3s-1s, weight: 1}":                    "line 7",
		head + "faults: 1s\nmix:\n- {kind: kill, for: soon, weight: 1}":                     "line 7",
		head + "faults: 1s\nmix:\n- {kind: loss, percent: 101, for: 1s, weight: 1}":         "mix[0].percent",
		head + "steps:\n- {wait: 1s, lead: true}":                                           "steps[0]",
		head + "steps:\n- {heal: it}":                                                       "steps[0].heal",
		head + "steps:\n- {lead: true, as: it}":                                             "steps[0].as",
		head + "steps:\n- {inject: {kind: kill}, as: all}":                                  "steps[0].as",
		head + "steps:\n- {inject: {nodes: n1}}":                                            "steps[0].inject.kind",
		head + "nodes: 4\nsteps:\n- {wait: 1s}":                                             "nodes",
		head + "store: tape\nsteps:\n- {wait: 1s}":                                          "store",
		head + "disks: floppy\nsteps:\n- {wait: 1s}":                                        "disks",
		head + "at_once: -1\nsteps:\n- {wait: 1s}":                                          "at_once",
		head + "sleeps:\n- {wait: 1s}":                                                      "sleeps",
		head + "steps:\n- {wait: 1s}\n---\nname: z":                                         "one scenario",
		"name: x\nabout: y\nrate: 1":                                                        "workloads",
		"name: x\nabout: y\nworkloads: {register: 0}\nrate: 1\nsteps:\n- {wait: 1s}":        "workloads.register",
		"name: x\nabout: y\nworkloads: {register: 1}\nsteps:\n- {wait: 1s}":                 "rate",
	} {
		_, err := scenarios.Decode("x.yaml", []byte(text))
		require.ErrorContains(t, err, says, text)
		require.ErrorContains(t, err, "x.yaml: ", text)
	}
}
