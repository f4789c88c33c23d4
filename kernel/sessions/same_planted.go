//go:build planted_forgetful

package sessions

import "github.com/omnikernel/omnikernel/kernel/event"

// same is wrong on purpose: what was answered before is done again. The simulation
// must notice (jepsen/README.md).
func same(*Answer, *event.Event) Judgement { return Judgement{} }
