//go:build planted_revocation

package flows

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// withdrawn is wrong on purpose: what was allowed once stays allowed. The
// simulation must notice (jepsen/README.md).
func (v View) withdrawn(uint32, string) (permissions.Evaluation, failure.Code, bool) {
	return permissions.Evaluation{}, "", false
}
