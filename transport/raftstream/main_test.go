package raftstream

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain also serves as the process that a test kills: see crash_test.go.
func TestMain(m *testing.M) {
	if os.Getenv(victimVariable) != "" {
		victim()
		return
	}
	goleak.VerifyTestMain(m)
}
