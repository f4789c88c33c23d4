//go:build long

package kernel_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/omnikernel/omnikernel/kernel/kerneltest"
)

// LC-12, EX-4, LO-1: many long histories, the counts taken again after every
// event; OMNI_HISTORIES says how many, OMNI_SEED where they begin.
func TestManyHistories(t *testing.T) {
	number := func(name string, otherwise int) uint64 {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return uint64(n)
		}
		return uint64(otherwise)
	}
	from := number("OMNI_SEED", 1)
	for seed := from; seed < from+number("OMNI_HISTORIES", 500); seed++ {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			h := kerneltest.NewHistory(t, 1, 60, kerneltest.NewSeeded(seed))
			for range 250 {
				h.Step()
				h.CheckCounts()
			}
			h.Settle()
			h.Check()
		})
	}
}
