//go:build planted_gap

package httpapi

// after is wrong on purpose: a watch that is resumed leaves one record out. The
// fault tests must notice (jepsen/README.md).
func after(last uint64) uint64 { return last + 2 }
