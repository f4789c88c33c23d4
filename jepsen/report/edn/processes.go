package edn

import "github.com/omnikernel/omnikernel/jepsen/history"

// processesOf gives each operation its process, from the history's own: a new one
// where the process was still at something, or had left something open for ever.
func processesOf(ops []history.Op) []int {
	next := 0
	for i := range ops {
		next = max(next, ops[i].Process+1)
	}
	processes := make([]int, len(ops))
	type state struct {
		number int
		busy   int64 // until when
		lost   bool  // for ever
	}
	now := make(map[int]state)
	for i := range ops {
		op := &ops[i]
		is, known := now[op.Process]
		if !known {
			is.number = op.Process
			if is.number < 0 {
				is.number, next = next, next+1
			}
		} else if is.lost || is.busy > op.Called {
			is.number, next = next, next+1
		}
		is.busy, is.lost = max(op.Called, op.Returned), kindOf(op) == unknown
		processes[i], now[op.Process] = is.number, is
	}
	return processes
}
