// Package execution keeps what is being run: each agent's instruction queue
// and tick in progress, and the global queue that orders ticks across agents
// (execution-loop.md; EX-2 … EX-8).
//
// It runs nothing. The tick flow reads a row, lets the evaluator run one tick,
// and publishes the records that tell what happened; the appliers here take
// them in. An ephemeral store exists in state only as the checkpoint of a tick
// that waits (EX-8, INV-05).
package execution
