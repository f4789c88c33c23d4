package kerneltest

import (
	"fmt"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/audit"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/mailbox"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/recovery"
)

// describeTree tells of tokens, delegations and what becomes of them.
func describeTree(r Record) string {
	switch b := r.Content.(type) {
	case *delegation.TokenIssued:
		words := fmt.Sprintf("grants %d, depth %d", b.Grants, b.Depth)
		if b.Parent != 0 {
			words += fmt.Sprintf(", child %d of call %d", b.Position, b.Call)
		}
		if b.Expires != 0 {
			words += ", expires at " + moment(b.Expires)
		}
		return words
	case *delegation.TokenRevoked:
		return string(b.Code) + because(b.Reason)
	case *delegation.ChildrenVoided:
		return string(b.Code)
	case *delegation.DelegationAccepted:
		return fmt.Sprintf("call %d: %d children", b.Call, b.Count)
	case *delegation.DelegationRejected:
		return fmt.Sprintf("call %d: %s: %s %s", b.Call, b.Code, b.Field, b.Rule)
	case *delegation.ChildResult:
		return fmt.Sprintf("child %d of call %d: %s", b.Position, b.Call, came(b))
	case *delegation.CascadeMoved:
		return map[bool]string{true: "done", false: "passed on"}[b.Done]
	case *delegation.DelegationOver:
		return fmt.Sprintf("call %d", b.Call)
	case *delegation.RequestCancelled:
		return fmt.Sprintf("call %d", b.Call)
	case *permissions.Escalated:
		to := "operators"
		if b.Handler != 0 {
			to = "the parent"
		}
		return fmt.Sprintf("call %d: %s on %s by %s, for %s, due at %s", b.Call, b.Action, b.Resource,
			decider(b.Grant, b.Grants, b.Level), to, moment(b.Deadline))
	case *permissions.EscalationDecided:
		switch {
		case b.Code != "":
			return fmt.Sprintf("%d: %s%s", b.ID, b.Code, because(b.Reason))
		case b.Approved:
			return fmt.Sprintf("%d: approved by %s%s", b.ID, b.By, because(b.Reason))
		}
		return fmt.Sprintf("%d: denied by %s%s", b.ID, b.By, because(b.Reason))
	case *permissions.EscalationOffered:
		return fmt.Sprintf("%d", b.ID)
	case *permissions.Revoked:
		return fmt.Sprintf("grant %d, now list %d%s", b.Grant, b.Grants, because(b.Reason))
	}
	return ""
}

// came says what a child came to.
func came(b *delegation.ChildResult) string {
	if b.OK {
		return "well"
	}
	return fmt.Sprintf("%s, %s", b.Code, b.Class)
}

// describeMemory tells of memory, mailboxes, retries and breaches.
func describeMemory(r Record) string {
	switch b := r.Content.(type) {
	case *memory.Access:
		where := "self/" + b.Key
		if b.Scope == memory.ScopeShared {
			where = b.Namespace + "/" + b.Key
		}
		words := fmt.Sprintf("%s %s", b.Op, strings.TrimSuffix(where, "/"))
		if b.Op == memory.OpWrite {
			words += " " + text(b.Value)
		}
		if b.Found {
			words += fmt.Sprintf(", was version %d", b.Version)
		}
		return words
	case *memory.Restored:
		return fmt.Sprintf("%d keys", len(b.Entries))
	case *memory.Released:
		return fmt.Sprintf("%d keys", b.Keys)
	case *memory.Snapshotted:
		return fmt.Sprintf("of tick %d", b.Tick)
	case *mailbox.Message:
		return text(b.Value)
	case *mailbox.Receive:
		return fmt.Sprintf("call %d", b.Call)
	case *recovery.Scheduled:
		return fmt.Sprintf("retry %d in %d ms", b.Retry, b.Millis)
	case *lifecycle.Reclassified:
		return "TRANSIENT" + because(b.Reason)
	case *lifecycle.SuspendRequested:
		return "by " + b.Caller.String() + because(b.Reason)
	case *audit.Body:
		return b.Invariant + ": " + b.Rule
	}
	return ""
}
