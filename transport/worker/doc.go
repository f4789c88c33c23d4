// Package worker makes calls of tools whose adapter is worker, in a process of its own
// (TO-15, docs/workers.md).
//
//	c, err := client.New(addresses, client.Options{})
//	w := worker.New(c, worker.Options{Name: "resize-1", Concurrency: 8})
//	w.Handle("images.resize", resize)
//	err = w.Run(ctx)
//
// Run asks the leader for calls, wherever it is by then, makes as many at once as
// Concurrency says, and keeps each lease alive while its Handler works. When the context
// ends it takes no more, and lets those that it has end within Options.Grace.
//
// # What a Handler can rely on
//
// Its context ends when the call was withdrawn, its time is over, or its lease is lost:
// what it answers then is nobody's any more. A call of a tool that is not idempotent is
// lent once. Any other may be made again, also while an earlier worker that was taken
// for lost still works at it: IdempotencyKey is the same then, and Fence is higher.
//
// # What it never does
//
// It decides nothing: the leader judges arguments, results and leases. It keeps nothing
// over a restart of its process.
package worker
