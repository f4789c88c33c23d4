package logaudit

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
)

// version is the kernel version in force; 0 before the cluster has one.
func (a *Auditor) version() uint32 {
	if a.config == nil {
		return 0
	}
	return a.config.Version
}

// since is the kernel version that brought a kind of record (EV-9).
func since(kind bus.Kind) uint32 {
	switch kind {
	case bus.AgentLogWarning, bus.AgentLogExceeded, bus.AuthBootstrapped, bus.PrincipalPut, bus.PrincipalDeleted, bus.RolePut, bus.RoleDeleted,
		bus.CredentialPut, bus.CredentialRevoked, bus.CredentialsForgotten, bus.OperatorOrdered:
		return 2
	}
	return 1
}

// early looks at a record of a kind that the version in force does not have; nothing else
// is asked of such a one.
func (a *Auditor) early() bool {
	brought := since(a.record.Kind)
	if a.config == nil || a.version() >= brought {
		return false
	}
	a.found(Version, "records of this kind came with kernel version %d, and the cluster is at %d", brought, a.version())
	return true
}

// tooEarly looks, at the end of a block, at an event of a kind that the version in
// force when it came did not have: it must have been refused.
func (a *Auditor) tooEarly() {
	if brought := a.event.Kind.Since(); a.refused == "" && a.entered != 0 && a.entered < brought {
		a.foundAt(a.first, bus.Record{Kind: bus.Event}, Version, "%s came with kernel version %d, the cluster is at %d, and it is not refused", a.event.Kind, brought, a.entered)
	}
}

// upgradedTo looks at KERNEL_UPGRADED: the kernel version rises by one at a time,
// never falls, and does so because a node said that all know the next one (EV-9).
func (a *Auditor) upgradedTo(b *event.Upgraded) {
	if a.config == nil || b.Version != a.config.Version+1 {
		a.found(Version, "the kernel version rises to %d, which is not the next one", b.Version)
		return
	}
	if asked, ok := event.DecodeBody[event.Upgraded](a.event.Body); a.event.Kind != event.KernelUpgraded || !ok || *asked != *b {
		a.found(Version, "the kernel version rises to %d, and the event does not say so", b.Version)
	}
	a.config.Version = b.Version
	a.config.LogWarnBytes, a.config.LogErrorBytes = b.LogWarnBytes, b.LogErrorBytes
}
