package permissions

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// DE-1: the strictest level decides, whichever side it stands on; between
// equals the first.
func TestStrictest(t *testing.T) {
	allow, escalate := Verdict{Allow, 3}, Verdict{Escalate, 2}
	deny, missing := Verdict{Deny, 1}, Verdict{Deny, DefaultDeny}
	for _, pair := range [][2]Verdict{{escalate, allow}, {deny, allow}, {deny, escalate}, {missing, allow}, {missing, escalate}, {{}, escalate}} {
		strict, loose := Level{1, pair[0]}, Level{2, pair[1]}
		assert.Equal(t, strict, Strictest(strict, loose))
		assert.Equal(t, strict, Strictest(loose, strict))
	}
	for _, pair := range [][2]Verdict{{allow, allow}, {escalate, escalate}, {deny, missing}, {missing, deny}} {
		a, b := Level{1, pair[0]}, Level{2, pair[1]}
		assert.Equal(t, a, Strictest(a, b))
	}
}
