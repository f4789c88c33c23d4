package sim

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
)

// inBubble runs a function in virtual time. A goroutine that it leaves behind
// fails the test, but for two of hashicorp/raft's own: a transfer of leadership
// to a follower that is behind waits for the follower's replication without end
// when leadership is lost meanwhile (raft.go, leadershipTransfer, the send to
// triggerDeferErrorCh), and the one that waits for the transfer waits with it.
func inBubble(t *testing.T, f func()) (left int) {
	t.Helper()
	defer func() {
		problem := recover()
		if problem == nil {
			return
		}
		var all []string
		all, left = leftBehind()
		if !strings.Contains(fmt.Sprint(problem), "blocked goroutines remain") || len(all) > left {
			t.Fatalf("%v\n%s", problem, strings.Join(all, "\n\n"))
		}
	}()
	synctest.Test(t, func(*testing.T) { f() })
	return 0
}

// leftBehind gives the stacks of all goroutines in bubbles, and how many of them
// are the library's known ones.
func leftBehind() (all []string, known int) {
	buffer := make([]byte, 16<<20)
	buffer = buffer[:runtime.Stack(buffer, true)]
	for stack := range strings.SplitSeq(string(buffer), "\n\n") {
		head, _, _ := strings.Cut(stack, "\n")
		if !strings.Contains(head, "synctest bubble") {
			continue
		}
		all = append(all, stack)
		if strings.Contains(stack, "raft.(*Raft).leadershipTransfer(") || strings.Contains(stack, "raft.(*Raft).leaderLoop.func2(") {
			known++
		}
	}
	return all, known
}
