//go:build !planted_forgetful

package sessions

import (
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// same judges a command whose sequence or key was answered before.
func same(a *Answer, e *event.Event) Judgement {
	if a.Digest != DigestOf(e) {
		return refuse(failure.SequenceReused, "session.seq", "this sequence or key was used before, for another command")
	}
	return Judgement{Repeat: a}
}
