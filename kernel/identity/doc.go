// Package identity is the registry of agents: which exist, under which number,
// and what they were defined as (kernel-architecture.md 2.1). An identity is
// written once, at definition, and never changes (EV-9: the evaluator and its
// version are part of it).
package identity
