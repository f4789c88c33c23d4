package lab

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/lab/netns"
)

// programLives tells whether there is a process of the number in a lab's name.
func programLives(lab string) bool {
	number, _, _ := strings.Cut(strings.TrimPrefix(lab, prefix), "-")
	_, err := os.Stat("/proc/" + number)
	return number != "" && err == nil
}

// endWithin is how long a process may take to be gone after SIGKILL.
const endWithin = 10 * time.Second

// endProcesses kills all processes that are in some namespaces, and waits until
// they are gone. It returns whom it killed.
func endProcesses(namespaces []string) (killed []int, err error) {
	inside := make(map[uint64]bool, len(namespaces))
	for _, name := range namespaces {
		if id, err := netns.ID(name); err == nil {
			inside[id] = true
		}
	}
	own, err := netns.ID("")
	if err != nil {
		return nil, err
	}
	if inside[own] {
		return nil, fmt.Errorf("one of the namespaces %v is this program's own", namespaces)
	}
	pids, err := processesIn(inside)
	if err != nil {
		return nil, err
	}
	for _, pid := range pids {
		if process, err := os.FindProcess(pid); err == nil {
			_ = process.Kill() // or it has ended
		}
	}
	deadline := time.Now().Add(endWithin)
	for {
		left, err := processesIn(inside)
		switch {
		case err != nil || len(left) == 0:
			return pids, err
		case time.Now().After(deadline):
			return pids, fmt.Errorf("processes %v do not end", left)
		}
		time.Sleep(time.Millisecond)
	}
}

// processesIn are the processes in some namespaces, this program excepted: its
// threads come and go there.
func processesIn(namespaces map[uint64]bool) (pids []int, err error) {
	if len(namespaces) == 0 {
		return nil, nil
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if id, err := netns.OfProcess(pid); err == nil && namespaces[id] {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
