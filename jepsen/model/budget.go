package model

import "hash/fnv"

// Budgets is the name of the workload whose agents share what they may spend.
const Budgets = "budget"

// BudgetIn is a family that draws on one account.
type BudgetIn struct {
	Limit    uint64   `json:"limit"` // tokens
	Sites    []string `json:"sites"` // one for each child, which calls it twice
	Declared uint64   `json:"declared"`
}

// UsageOf is what the counting service says that a call cost, in tokens: by the call's
// own key, so that whoever asks again is told the same.
func UsageOf(key string) uint64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key)) // a hash never fails
	return uint64(h.Sum32() % 13)
}
