package permissions

import (
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// EveryAction is the action of a role's grant that speaks of all actions there are.
const EveryAction = "**"

// CompileRole is Compile for the grants of a role, which says what principals may
// ask of the cluster. Two things differ from an agent's: the action may be
// EveryAction, and nothing is escalated, since nobody waits for a decision.
func CompileRole(grants []Grant) (*Set, *failure.Refusal) {
	for i := range grants {
		if grants[i].Effect == Escalate {
			return nil, invalid("grants["+strconv.Itoa(i)+"].effect", "must be ALLOW or DENY: a role cannot escalate")
		}
	}
	return compileWith(grants, func(s string) (action, string) {
		if s == EveryAction {
			return action{open: true}, ""
		}
		return parseAction(s)
	})
}
