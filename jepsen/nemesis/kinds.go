package nemesis

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/omnikernel/omnikernel/jepsen/scenarios"
)

// What a fault claims of a node.
const (
	process = "process"
	clock   = "clock"
	answers = "answers"
	output  = "output"
	network = "" // nothing: such faults go together
)

// kind is one kind of fault.
type kind struct {
	about string
	claim string
	needs func(*Node) bool // what a node must have for it; nil is nothing
	wants string           // the parameters that it takes, by their names in scenarios
	ends  bool             // the node's process may end by itself

	inject func(context.Context, *Nemesis, *Injected) error
	heal   func(context.Context, *Nemesis, *Injected) error
}

func table() map[string]kind {
	all := make(map[string]kind)
	for _, part := range []map[string]kind{processKinds, networkKinds, diskKinds, otherKinds} {
		maps.Copy(all, part)
	}
	return all
}

// Kinds lists the kinds of faults: name, parameters, what it is.
func Kinds() [][3]string {
	all := table()
	var list [][3]string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, [3]string{name, all[name].wants, all[name].about})
	}
	return list
}

// Ends tells whether a fault of this kind may end a node's process.
func Ends(name string) bool { return table()[name].ends }

// Check says why a fault of a scenario cannot be made by these means; nil when it
// can.
func (m *Means) Check(f *scenarios.Fault) error {
	k, known := table()[f.Kind]
	if !known {
		return fmt.Errorf("there is no fault %q; there are %v", f.Kind, slices.Sorted(maps.Keys(table())))
	}
	for _, node := range m.Nodes {
		if k.needs != nil && !k.needs(node) {
			return fmt.Errorf("%s: it needs what %s does not have: %s", f.Kind, node.ID, k.about)
		}
	}
	if k.claim == network && f.Kind != "transfer" && m.Network == nil {
		return fmt.Errorf("%s: there is no network to spoil", f.Kind)
	}
	given := map[string]bool{
		"shape": f.Shape != "", "percent": f.Percent != 0, "by": f.By != 0, "bytes": f.Bytes != 0,
		"file": f.File != "", "way": f.Way != "",
	}
	for _, word := range slices.Sorted(maps.Keys(given)) {
		if wanted := slices.Contains(words(k.wants), word); wanted != given[word] {
			return fmt.Errorf("%s: it takes %q, and %s is %s", f.Kind, k.wants, word, map[bool]string{true: "missing", false: "given"}[wanted])
		}
	}
	if f.Kind == "partition" && shapes[f.Shape] == nil {
		return fmt.Errorf("partition: there is no shape %q; there are %v", f.Shape, slices.Sorted(maps.Keys(shapes)))
	}
	return nil
}
