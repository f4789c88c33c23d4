package permissions

import (
	"slices"
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// Revoke returns a list in which the i-th grant, an ALLOW, ended before
// nowMillis, Unix milliseconds of kernel time. Positions stay, so that what is
// recorded about the list can still be read; the list given is not changed, and
// one that had ended earlier keeps its time.
//
// Only an ALLOW can be taken back: without a DENY or an ESCALATE the agent could
// do more. And a time has to be written down that is in the past and is not
// zero, which is for ever: a kernel whose clock stands at 1 or less has none.
func Revoke(grants []Grant, i int, nowMillis int64) ([]Grant, *failure.Refusal) {
	if i < 0 || i >= len(grants) {
		return nil, invalid("grant", "must be the position of a grant in the agent's list, from 0")
	}
	if grants[i].Effect != Allow {
		return nil, invalid("grants["+strconv.Itoa(i)+"].effect", "must be ALLOW: taking back a DENY or an ESCALATE would widen what the agent may do")
	}
	past := nowMillis - 1
	if nowMillis <= 1 {
		return nil, invalid("grant", "cannot be revoked before the kernel's clock is past the first millisecond of 1970")
	}
	revoked := slices.Clone(grants)
	if g := &revoked[i]; g.NotAfterMillis == 0 || g.NotAfterMillis > past {
		g.NotAfterMillis = past
	}
	return revoked, nil
}
