//go:build !planted_revocation

package flows

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// withdrawn judges a call once more, now that it is about to be made: gone tells
// that it may not be, and the code, when it is not empty, that the token is void.
func (v View) withdrawn(no uint32, resource string) (e permissions.Evaluation, code failure.Code, gone bool) {
	effect, e := v.authority(no, ActionToolCall, resource)
	code, void := v.void(no)
	if !void {
		code = ""
	}
	return e, code, effect == permissions.Deny || void
}
