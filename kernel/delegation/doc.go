// Package delegation keeps who delegated to whom: one token an agent, the tree
// of parents and children, the requests that parents wait for, and the cascades
// that a revocation sets off (DE-1 … DE-3, LC-10).
//
// Authority is read upwards. A token is in force while neither it nor anything
// that it rests on was revoked or has expired, so one record voids a whole
// subtree at once; the cascade that follows only records, agent by agent, what
// that means, and may take several events.
//
// The record that voids begins a cascade; the flows drain them, oldest first.
// FirstCascade is the one under way, Next the agent that it visits next, and the
// record of the visit, TokenRevoked with Cursor or CascadeMoved, moves it on, so
// that a snapshot taken anywhere goes on from there. When Next has no more, a
// CascadeMoved ends it.
//
// The tree stands in the rows: first child, next sibling, parent. Agents are
// numbered as they are defined, so a parent's number is smaller than its
// children's, and theirs rise in order of issue: every walk ends, and no agent
// is its own ancestor (INV-08). Rows never leave the tree.
//
// Nothing here decides anything, judges grants, sets timers or ends agents; the
// flows do. The appliers trust the record, and what makes no sense in it changes
// nothing.
package delegation
