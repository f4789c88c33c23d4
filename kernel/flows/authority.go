package flows

import (
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// authority judges one request of an agent. Authority is read upwards: the
// request is put to the agent's grants and to those of every ancestor, and the
// strictest answer holds. So a child can never do what its parent may not do
// now, whatever expired or was revoked since the delegation (LC-10, DE-1,
// PE-2). It changes nothing; the evaluation names the grant that decided.
func (v View) authority(no uint32, action, resource string) (permissions.Effect, permissions.Evaluation) {
	row := v.Agents.Get(no)
	verdict := v.Compiled.Grants(row.Permissions.Grants).Evaluate(action, resource, v.Clock)
	found := permissions.Evaluation{Action: action, Resource: resource, Grants: row.Permissions.Grants, Grant: verdict.Grant}
	asked := resource
	for at := row.Delegation.Parent; at != 0; {
		above := v.Agents.Get(at)
		asked = permissions.Upwards(action, asked)
		theirs := v.Compiled.Grants(above.Permissions.Grants).Evaluate(action, asked, v.Clock)
		strictest := permissions.Strictest(permissions.Level{Verdict: verdict}, permissions.Level{Agent: at, Verdict: theirs})
		if strictest.Agent == at {
			verdict = theirs
			found.Level, found.Grants, found.Grant = at, above.Permissions.Grants, theirs.Grant
		}
		at = above.Delegation.Parent
	}
	return verdict.Effect, found
}

// void tells whether the agent's token, and with it everything it rests on, is
// no longer in force, and by which code. An agent that was never spawned has
// no token to lose.
func (v View) void(no uint32) (failure.Code, bool) {
	inForce, code, holder := delegation.InForce(v.tokens, no, v.Clock)
	if !inForce && v.Agents.Get(holder) == nil {
		return v.Above, v.Above != ""
	}
	return code, !inForce
}

// tokens gives the delegation part of an agent's row.
func (v View) tokens(no uint32) *delegation.Row {
	row := v.Agents.Get(no)
	if row == nil {
		return nil
	}
	return &row.Delegation
}

// voided is the failure of a tick, or of a request, that has lost its authority.
func voided(code failure.Code) *failure.Failure {
	message := "the agent's token, or one that it rests on, was revoked"
	if code == failure.TokenExpired {
		message = "the agent's token, or one that it rests on, has expired"
	}
	return &failure.Failure{Code: code, Message: message}
}
