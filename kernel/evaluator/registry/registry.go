package registry

import (
	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/evaluator/script"
)

// Lookup returns the evaluator of a name and version; false if there is none.
func Lookup(name string) (evaluator.Evaluator, bool) {
	switch name {
	case evaluator.StdName:
		return evaluator.Std(), true
	case script.Name:
		return script.New(), true
	}
	return nil, false
}
