// Package invariants holds the kernel's non-negotiable rules as named checks:
// INV-01 … INV-21 of kernel-architecture.md section 9 and execution-loop.md, and
// SM-INV-01 … SM-INV-06 of agent-lifecycle.md section 8 (FA-4).
//
// The kernel asks before it publishes a record, and again after the record's
// owner has applied it. Each check is one look at the state that the record
// concerns, so they all run in production. A record that would break a rule is
// not published: the flow that made it is wrong, and the agent on whose account
// it is goes to TERMINATED, on the audit log. What cannot be pinned on an agent
// stops the node.
//
// Rules of structure are not here but where they hold: the house rules' tests
// prove INV-02, INV-10, INV-20 and INV-21 about the code, a sample of ticks is
// evaluated twice (INV-15, INV-20), the bus numbers records and seals blocks
// (INV-07, INV-16), nodes compare chains at every Checkpoint (INV-17), and
// folding a log has nothing that could call an adapter (INV-18).
package invariants
