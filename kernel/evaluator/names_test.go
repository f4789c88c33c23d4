package evaluator_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
)

// Every name that a program may bind can be used in an expression, and every
// other is refused: nothing is bound that cannot be read.
func TestBoundNamesCanBeRead(t *testing.T) {
	words := strings.Fields(`
		a _ _a A9 input env agent True False None true false null and or not in if else for lambda
		as assert async await break class continue def del elif except finally from global import is load
		nonlocal pass raise return try while with yield len list dict str range print set bytes self this`)
	refused := 0
	for _, name := range words {
		p, refusal := std(t).Compile(rawGo(t, seqOf(letOf(name, 7), literalOf("${[x for x in ["+name+"]]}"))))
		if refusal != nil {
			refused++
			if refusal.Field == "program.payload.steps[0].payload.name" {
				continue
			}
			// The language refuses the word: then it must not be bindable.
			assert.Fail(t, "bound but not readable", "%s: %s", name, showRefusal(refusal))
			continue
		}
		o := run(t, p, testContext, echo, resuming)
		assert.Equal(t, evaluator.PureValue, o.last.Kind, "%s: %s", name, o.show())
		assert.Equal(t, "[7]", string(o.last.Value.AppendJSON(nil)), name)
	}
	assert.Greater(t, refused, 30)
}
