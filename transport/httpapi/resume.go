//go:build !planted_gap

package httpapi

// after is where a watch goes on whose reader has seen the record at last.
func after(last uint64) uint64 { return last + 1 }
