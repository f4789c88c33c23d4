package recordjson

import "github.com/omnikernel/omnikernel/kernel/value"

// maxNesting stops the walk; programs are nested less deep.
const maxNesting = 64

// instructionKinds lists the kinds of a program's instructions in preorder, as
// the evaluator numbers them.
func instructionKinds(kinds []string, instruction value.Raw, nesting int) []string {
	name, ok := instruction.Get("kind")
	if !ok || nesting > maxNesting {
		return kinds
	}
	kind, _ := name.Text()
	kinds = append(kinds, kind)
	payload, _ := instruction.Get("payload")
	for _, field := range inside(kind) {
		if child, ok := payload.Get(field); ok {
			kinds = instructionKinds(kinds, child, nesting+1)
		}
	}
	switch kind {
	case "SEQ":
		steps, _ := payload.Get("steps")
		r := value.NewReader(steps)
		n, _ := r.ReadListHeader()
		for range n {
			kinds = instructionKinds(kinds, r.Skip(), nesting+1)
		}
	case "TRY":
		clauses, _ := payload.Get("catch")
		r := value.NewReader(clauses)
		n, _ := r.ReadListHeader()
		for range n {
			do, _ := r.Skip().Get("do")
			kinds = instructionKinds(kinds, do, nesting+1)
		}
	case "DELEGATE": // programs of children are numbered by themselves
		handler, _ := payload.Get("on_escalation")
		do, _ := handler.Get("do")
		kinds = instructionKinds(kinds, do, nesting+1)
	}
	return kinds
}

// inside names the fields of a payload that are instructions, in the order in
// which they are numbered.
func inside(kind string) []string {
	switch kind {
	case "LET", "LOOP", "MAP", "RETURN", "TRY":
		return []string{"do"}
	case "BRANCH":
		return []string{"then", "else"}
	}
	return nil
}
